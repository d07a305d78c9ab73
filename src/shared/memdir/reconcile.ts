// The rule of two steps (spec sections 2 and 13): each topic file has its line in the index, and no
// line goes nowhere. A crash between the two steps heals here.

import { INDEX_BYTES, INDEX_LINES } from "../limits.ts";
import { cutIndex, INDEX_FILE } from "./entrypoint.ts";
import { textStart } from "./frontmatter.ts";
import { BLANK, indexLines, type Line } from "./index-lines.ts";
import { formatPointer, isTopicFile } from "./pointer.ts";

/** Bounds the work on an index that is made so that each drop uncovers one more; the next run goes on. */
const DROP_ROUNDS = 20;

export interface TopicFile {
  /** Canonical, within the directory. */
  path: string;
  name?: string | undefined;
  description?: string | undefined;
}

export interface Reconciled {
  /** The index as it should be; undefined if there was none and needs to be none, "" if it is empty. */
  text: string | undefined;
  /** Files that got a line. */
  added: string[];
  /** Targets whose line went, because there is no such file. */
  dropped: string[];
  /** Files with more than one line. */
  duplicates: string[];
  changed: boolean;
}

/**
 * Adds a line for each topic file that has none, in the order given (newest first), above the first
 * pointer; drops pointers to nowhere. A further line for the same file stays, unless it repeats an
 * earlier one letter by letter. Everything else keeps its bytes, line ends and order. Doing it twice
 * changes nothing. What is not a canonical path to an `*.md`, and the index itself, is passed over.
 */
export function reconcileIndex(input: {
  index: string | undefined;
  files: readonly TopicFile[];
}): Reconciled {
  const files = new Map(
    input.files.filter(({ path }) => isTopicFile(path)).map((file) => [file.path, file]),
  );
  const index = input.index ?? "";
  const { text: clean, dropped, duplicates } = dropLines(index, files);
  const { text: full, added } = addLines(clean, files);
  // A text that had no line end at its end gets none.
  const bare = !index.endsWith("\n") && index.length > textStart(index);
  const text = bare ? full.replace(/\r?\n$/, "") : full;
  return {
    text: input.index === undefined && text === "" ? undefined : text,
    added,
    dropped: [...dropped],
    duplicates: [...duplicates],
    changed: text !== index,
  };
}

type Files = ReadonlyMap<string, TopicFile>;

function dropLines(index: string, files: Files) {
  const dropped = new Set<string>();
  const duplicates = new Set<string>();
  let text = index;
  // A dropped line may have held a list or a block of code together, and its neighbours then read
  // differently: they are looked at again, as long as something goes.
  for (let round = 0; round < DROP_ROUNDS; round += 1) {
    const seen = new Map<string, Set<string>>();
    const lines = indexLines(text);
    const kept = lines.filter(({ pointer, text: line }) => {
      if (!pointer) return true;
      if (!files.has(pointer.path)) {
        dropped.add(pointer.path);
        return false;
      }
      const before = seen.get(pointer.path) ?? new Set();
      if (before.size > 0) duplicates.add(pointer.path);
      const repeats = before.has(line.trim());
      seen.set(pointer.path, before.add(line.trim()));
      return !repeats;
    });
    if (kept.length === lines.length) break;
    const head = text.slice(0, textStart(text));
    text = head + kept.map(({ start, end }) => text.slice(start, end)).join("");
  }
  return { text, dropped, duplicates };
}

function addLines(text: string, files: Files): { text: string; added: string[] } {
  const lines = indexLines(text);
  const present = new Set(lines.map(({ pointer }) => pointer?.path));
  const missing = [...files.values()].filter(({ path }) => !present.has(path));
  const added = missing.map(({ path }) => path);
  if (missing.length === 0) return { text, added };
  const end = /^[^\n]*\r\n/.test(text) ? "\r\n" : "\n";
  const block = missing.map((file) => formatPointer(file) + end).join("");
  const first = lines.find(({ pointer }) => pointer !== undefined);
  const at = first?.start ?? belowHeading(text, lines);
  const before = text.slice(0, at);
  const after = text.slice(at);
  if (first) return { text: before + block + after, added };
  const gap = before.length === textStart(text) || before.endsWith("\n") ? "" : end + end;
  return { text: before + gap + block + separator(after, end) + after, added };
}

/** Behind a heading that opens the index, and the blank lines after it; else the very beginning. */
function belowHeading(text: string, lines: Line[]): number {
  const first = lines.findIndex((line) => !BLANK.test(line.text));
  const heading = /^ {0,3}#{1,6}(?:\s|$)/.test(lines[first]?.text ?? "");
  if (!heading) return lines[0]?.start ?? text.length;
  const next = lines.slice(first + 1).find((line) => !BLANK.test(line.text));
  return next?.start ?? text.length;
}

/** Keeps what follows from becoming part of the list above it. */
function separator(after: string, end: string): string {
  if (/^[ \t\r\n]*$/.test(after)) return "";
  const indented = /^(?:[ \t\r]*\n)*(?:\t| {2}| \t)/.test(after);
  return indented ? `${end}<!-- -->${end}${end}` : end;
}

/**
 * What the writer of an index is told when it is over its limits (the write itself succeeds), in
 * numbers; undefined if it fits into the prompt.
 */
export function indexWarning(
  text: string,
  limits: { lines: number; bytes: number } = { lines: INDEX_LINES, bytes: INDEX_BYTES },
): string | undefined {
  const { cutBy, lines, bytes, hidden } = cutIndex(text, limits);
  if (cutBy === undefined) return undefined;
  const size =
    cutBy === "lines"
      ? `${lines} lines, limit ${limits.lines}`
      : `${bytes} bytes, limit ${limits.bytes}`;
  return `${INDEX_FILE} was saved but is too long: ${size}, ${hidden} not shown at the start of a session, the last ones. Shorten it: one line of under 150 characters a memory, newest on top, details in the files.`;
}
