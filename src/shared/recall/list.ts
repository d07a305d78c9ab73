// The list of memories that the selector chooses from.

import { PATH_BYTES } from "../limits/files.ts";
import { isUsable, NO_DESCRIPTION } from "../memdir/description.ts";
import { INDEX_FILE } from "../memdir/entrypoint.ts";
import type { MemoryType } from "../memdir/types.ts";
import { plainLine } from "../safety/plain-line.ts";

/** A memory as a scan finds it. */
export interface Candidate {
  /** Relative, within the memory directory. */
  path: string;
  type: MemoryType | undefined;
  name: string | undefined;
  description: string | undefined;
  /** Last change of content, in epoch milliseconds. */
  updatedAt: number;
  /** Bytes. */
  size: number;
}

/** A description on the list, in characters: the list may have two hundred of them. */
export const DESCRIPTION_CHARACTERS = 300;

/** Folders of other kinds of notes, in case somebody puts them into a memory directory. */
const OTHER_KINDS = /^(?:session-memory|agent-memory)\//;

/**
 * Whether a file of the memory directory is a memory: `*.md` at any depth, not hidden, not in a hidden
 * folder, and no index. Team memories are; the notes of sessions and of subagents are not. Case counts,
 * as in the store: "README.MD" is no memory, "memory.md" is one, "MEMORY.md" is the index.
 */
export function isCandidate(path: string): boolean {
  const segments = path.split("/");
  if (segments.some((segment) => segment === "" || segment.startsWith("."))) return false;
  return path.endsWith(".md") && segments.at(-1) !== INDEX_FILE && !OTHER_KINDS.test(path);
}

/**
 * One line a file, in the order given: `- [type] filename (ISO time): description`. The text of a file
 * can neither start a line nor close a tag. A missing description is said to be missing, after the name.
 */
export function memoryList(candidates: readonly Candidate[]): string {
  return candidates.map(lineOf).join("\n");
}

/** A file's name on the list. */
export function listedName(path: string): string {
  return plainLine(path, PATH_BYTES);
}

function lineOf({ path, type, name, description, updatedAt }: Candidate): string {
  const kind = type === undefined ? "" : `[${type}] `;
  const known = isUsable(description);
  const about = plainLine((known ? description : name) ?? "", DESCRIPTION_CHARACTERS);
  const words = known ? about : `${about} ${NO_DESCRIPTION}`.trimStart();
  return `- ${kind}${listedName(path)} (${timeOf(updatedAt)}): ${words}`;
}

/** ISO 8601 to the minute. Zero, NaN and what is beyond the range of a date are no time. */
function timeOf(updatedAt: number): string {
  const date = new Date(updatedAt);
  if (!(updatedAt > 0) || Number.isNaN(date.getTime())) return "unknown time";
  return date.toISOString().replace(/:\d+\.\d+Z$/, "Z");
}
