import { plainLine } from "../../../src/shared/safety/plain-line.ts";

/** Paths that are named, and the characters of each. */
const PATHS = 20;
const CHARACTERS = 255;

/** Tells the model which memories are no more; undefined where there are none. */
export function deletionReminder(directory: string, paths: readonly string[]): string | undefined {
  if (paths.length === 0) return undefined;
  const named = paths.slice(0, PATHS).map((path) => `- ${plainLine(path, CHARACTERS)}`);
  const more = paths.length > PATHS ? [`- and ${paths.length - PATHS} more`] : [];
  return [
    "<system-reminder>",
    `These memories in \`${directory}/\` were deleted since you were shown the index. What they said, here or in the index, holds no more: do not rely on it, do not repeat it and do not save it again unless the user says it anew.`,
    ...named,
    ...more,
    "</system-reminder>",
  ].join("\n");
}
