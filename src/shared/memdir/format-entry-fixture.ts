import { oneLine } from "../text/frontmatter-fields.ts";
import type { MemoryType } from "./types.ts";

/**
 * A memory file that `parseEntry` reads back as it was given. Name and description are put on one
 * line first; each key takes one physical line, in double quotes, however long it is.
 */
export function formatEntry(entry: {
  name: string;
  description: string;
  type?: MemoryType | undefined;
  body: string;
}): string {
  const lines = [
    `name: ${JSON.stringify(oneLine(entry.name))}`,
    `description: ${JSON.stringify(oneLine(entry.description))}`,
    ...(entry.type === undefined ? [] : [`type: ${entry.type}`]),
  ];
  return `---\n${lines.join("\n")}\n---\n${entry.body}`;
}
