// The list of memories as a model is shown it, and what is on it.

import { PATH_BYTES } from "../limits/files.ts";
import { INDEX_FILE } from "../memdir/entrypoint.ts";
import type { MemoryType } from "../memdir/types.ts";
import { plainLine } from "../safety/plain-line.ts";

/** A memory as a scan knows it: from its first lines. */
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

/** A description on the list, in characters: two hundred of them are read at once. */
export const DESCRIPTION_CHARACTERS = 300;

/** Folders with files of other kinds, should somebody put them into a memory directory. */
const OTHER_KINDS = /^(?:session-memory|agent-memory)\//;

/**
 * Whether a file of the memory directory is a memory: `*.md`, in no hidden folder and not hidden
 * itself, and no index, at any depth; team memories are, the notes of sessions and of subagents are
 * not. Case counts, as it does in the store: "README.MD" is no memory, "memory.md" is one and
 * "MEMORY.md" the index.
 */
export function isCandidate(path: string): boolean {
  const segments = path.split("/");
  if (segments.some((segment) => segment === "" || segment.startsWith("."))) return false;
  return path.endsWith(".md") && segments.at(-1) !== INDEX_FILE && !OTHER_KINDS.test(path);
}

/**
 * One line a file, in the order given: `- [type] filename (ISO time): description`. What files say can
 * start no further line and close no tag. A missing description is the name, if there is one.
 */
export function memoryList(candidates: readonly Candidate[]): string {
  return candidates.map(lineOf).join("\n");
}

/** A file's name as it stands on the list. */
export function listedName(path: string): string {
  return plainLine(path, PATH_BYTES);
}

function lineOf({ path, type, name, description, updatedAt }: Candidate): string {
  const kind = type === undefined ? "" : `[${type}] `;
  const about = plainLine(description ?? name ?? "", DESCRIPTION_CHARACTERS);
  const line = `- ${kind}${listedName(path)} (${timeOf(updatedAt)})`;
  return about === "" ? line : `${line}: ${about}`;
}

/** To the second; a time is missing where it is zero, no number, or beyond what a date can be. */
function timeOf(updatedAt: number): string {
  const date = new Date(updatedAt);
  if (!(updatedAt > 0) || Number.isNaN(date.getTime())) return "unknown time";
  return date.toISOString().replace(/\.\d+Z$/, "Z");
}
