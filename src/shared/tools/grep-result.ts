// What Grep gives back: the lines that match, and what was left out.

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
  /** Files looked at by name. */
  entries: number;
}

/** What was left out, for the note at the end. */
export interface Skipped {
  tooLarge: number;
  overLimit: number;
  binary: number;
  unreadable: number;
  /** Files whose paths are too long for the glob. */
  longPaths: number;
  /** Lines of which only the beginning was searched, and how much of them. */
  longLines: number;
  characters: number;
  /** The work that one call may do was done before the end. */
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
  const left: string[] = [];
  if (skipped.tooLarge > 0) left.push(`${skipped.tooLarge} files over ${limits.fileBytes} bytes`);
  if (skipped.binary > 0) left.push(`${skipped.binary} binary files`);
  if (skipped.unreadable > 0) left.push(`${skipped.unreadable} files that could not be read`);
  if (skipped.overLimit > 0) {
    left.push(
      `${skipped.overLimit} files beyond ${limits.files} files or ${limits.totalBytes} bytes`,
    );
  }
  if (skipped.longPaths > 0)
    left.push(`${skipped.longPaths} files with paths too long for the glob`);
  if (skipped.longLines > 0) {
    left.push(
      `what is behind the first ${skipped.characters} characters of ${skipped.longLines} lines`,
    );
  }
  if (skipped.exhausted)
    left.push("the rest, because the pattern is too slow: simplify it, or narrow path or glob");
  if (skipped.unlisted) left.push(`everything after the first ${limits.entries} files`);
  if (left.length > 0) lines.push(`[Not searched: ${left.join(", ")}]`);
  return success(lines.join("\n"));
}
