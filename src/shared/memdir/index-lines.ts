// The lines of MEMORY.md. The index has no frontmatter: a "---" at its top is a line like any other.

import { textStart } from "../text/frontmatter.ts";
import { type Pointer, parsePointer } from "./pointer.ts";

export interface Line {
  /** Where the line begins, in UTF-16 units of the text; a byte order mark is before the first. */
  start: number;
  /** Where the next line begins: after the line end, if there is one. */
  end: number;
  /** The line without its line end, and without byte order marks before it. */
  text: string;
  /** What it points to, if it is a pointer. */
  pointer?: Pointer | undefined;
}

/** A pointer line, with its place in the text. */
export type IndexLine = Omit<Line, "pointer"> & Pointer;

const FENCE = /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}(?=[^`]*$)|~{3,})/;
const ITEM = /^[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/;
/** As Markdown has it: other spaces are text. */
const BLANK = /^[ \t\r]*$/;

/**
 * The pointers of an index: list items (`-`, `*`, `+`, numbers; nested ones too) that begin with a
 * link to an `*.md` file inside the directory; see `parsePointer`. What is in fenced or indented code
 * or in an HTML comment that begins a line is none, nor is a link within a sentence. Never throws;
 * linear in the text's length.
 */
export function parseIndex(text: string): IndexLine[] {
  return indexLines(text).flatMap(({ pointer, ...line }) =>
    pointer ? { ...line, ...pointer } : [],
  );
}

/** All lines of an index, pointers or not; joined from `start` to `end` they are the text. */
export function indexLines(text: string): Line[] {
  const lines: Line[] = [];
  const isText = textLines();
  let start = textStart(text);
  while (start < text.length) {
    const feed = text.indexOf("\n", start);
    const end = feed === -1 ? text.length : feed + 1;
    const line = text.slice(start, end).replace(/^\ufeff+|\r?\n$/g, "");
    const pointer = isText(line) ? parsePointer(line) : undefined;
    lines.push({ start, end, text: line, pointer });
    start = end;
  }
  return lines;
}

/** Takes one line after the other, and says whether it is text, not code and not a comment. */
function textLines(): (line: string) => boolean {
  let fence: { mark: string; floor: number } | undefined;
  let comment = false;
  let inList = false;
  return (line) => {
    const indent = width(line);
    const blank = BLANK.test(line);
    if (comment) {
      comment = !line.includes("-->");
      return false;
    }
    if (fence && (blank || indent >= fence.floor)) {
      if (closes(fence.mark, line)) fence = undefined;
      return false;
    }
    // A fence within a list item ends with the item.
    fence = undefined;
    if (blank) return false;
    if (!inList && indent >= 4) return false;
    const item = ITEM.test(line);
    inList = item || (inList && indent >= 2);
    const opening = FENCE.exec(line);
    if (opening) {
      fence = { mark: opening[1] ?? "", floor: inList ? 2 : 0 };
      return false;
    }
    if (indent < 4 && line.trimStart().startsWith("<!--")) {
      comment = !line.includes("-->");
      return false;
    }
    return item;
  };
}

/** A closing fence is at least as long as the opening one, of the same sign, and nothing else. */
function closes(mark: string, line: string): boolean {
  const text = line.trim();
  return text.length >= mark.length && text === (mark[0] ?? "").repeat(text.length);
}

/** Whether a line holds nothing, or nothing but blanks. */
export function isBlank(line: Line): boolean {
  return BLANK.test(line.text);
}

/**
 * Whether a line belongs to the item of a pointer line above it: its own text, code or items. Without
 * the pointer line it would read differently; any other line reads the same.
 */
export function isHeldBy(pointer: Line, line: Line): boolean {
  const indent = width(line.text);
  return indent >= 2 && !(ITEM.test(line.text) && indent <= width(pointer.text));
}

/** Whether a line at the beginning of an index would be drawn into a list put above it. */
export function isIndented(line: Line): boolean {
  return width(line.text) >= 2;
}

/** Columns before the first sign; a tab goes to the next multiple of four. */
function width(line: string): number {
  let columns = 0;
  for (const sign of line) {
    if (sign === "\t") columns += 4 - (columns % 4);
    else if (sign === " ") columns += 1;
    else break;
  }
  return columns;
}
