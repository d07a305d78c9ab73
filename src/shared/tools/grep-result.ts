// The result of Grep: the lines that match, and a note about what was not searched.

import type { ToolResult } from "../loop/tool.ts";
import { byteLength } from "../text/bytes.ts";
import { showLine } from "../text/decode.ts";
import { success } from "./result.ts";

export interface GrepResultLimits {
  /** Lines of the result. */
  results: number;
  /** UTF-8 bytes of the result. */
  resultBytes: number;
  lineCharacters: number;
  /** Files opened. */
  files: number;
  /** Bytes of one file, of all files. */
  fileBytes: number;
  totalBytes: number;
  /** Files that the walk visits. */
  entries: number;
}

/** Counts of what was not searched, for the note at the end. */
export interface Skipped {
  tooLarge: number;
  overLimit: number;
  binary: number;
  unreadable: number;
  /** Files whose paths are too long for the glob. */
  longPaths: number;
  /** Lines of which only the first `characters` were searched. */
  longLines: number;
  characters: number;
  /** The steps of the call were used up before the end. */
  exhausted: boolean;
  unlisted: boolean;
}

/** The lines of the result, up to its limits. */
export class Rows {
  readonly lines: string[] = [];
  full = false;
  private bytes = 0;
  private readonly limits: GrepResultLimits;

  constructor(limits: GrepResultLimits) {
    this.limits = limits;
  }

  add(path: string, number: number, line: string): void {
    const row = `${path}:${number}: ${showLine(line, this.limits.lineCharacters)}`;
    this.bytes += byteLength(row) + 1;
    if (this.lines.length >= this.limits.results || this.bytes > this.limits.resultBytes) {
      this.full = true;
      return;
    }
    this.lines.push(row);
  }
}

export function grepResult(
  pattern: string,
  path: string,
  rows: Rows,
  skipped: Skipped,
  limits: GrepResultLimits,
): ToolResult {
  const lines = [...rows.lines];
  if (lines.length === 0) lines.push(`No line below ${path} matches "${pattern}"`);
  if (rows.full) lines.push("[There are more matches. Narrow pattern, path or glob for the rest]");
  const unsearched: string[] = [];
  if (skipped.tooLarge > 0)
    unsearched.push(`${skipped.tooLarge} files over ${limits.fileBytes} bytes`);
  if (skipped.binary > 0) unsearched.push(`${skipped.binary} binary files`);
  if (skipped.unreadable > 0) unsearched.push(`${skipped.unreadable} files that could not be read`);
  if (skipped.overLimit > 0) {
    unsearched.push(
      `${skipped.overLimit} files beyond ${limits.files} files or ${limits.totalBytes} bytes`,
    );
  }
  if (skipped.longPaths > 0)
    unsearched.push(`${skipped.longPaths} files with paths too long for the glob`);
  if (skipped.longLines > 0) {
    unsearched.push(
      `what is behind the first ${skipped.characters} characters of ${skipped.longLines} lines`,
    );
  }
  if (skipped.exhausted)
    unsearched.push(
      "the rest, because the pattern is too slow: simplify it, or narrow path or glob",
    );
  if (skipped.unlisted) unsearched.push(`everything after the first ${limits.entries} files`);
  if (unsearched.length > 0) lines.push(`[Not searched: ${unsearched.join(", ")}]`);
  return success(lines.join("\n"));
}
