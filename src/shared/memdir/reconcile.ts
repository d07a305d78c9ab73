// The rule of two steps: each topic file has its line in the index, and no line goes nowhere. This
// heals a crash between the two steps.

import { INDEX_BYTES, INDEX_LINES } from "../limits/memory.ts";
import { byteLength } from "../text/bytes.ts";
import { textStart } from "../text/frontmatter.ts";
import { cutIndex, INDEX_FILE } from "./entrypoint.ts";
import { indexLines, isBlank, isHeldBy, isIndented, type Line } from "./index-lines.ts";
import { formatPointer, isTopicFile, unlinked } from "./pointer.ts";

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
 * pointer; drops pointers to nowhere (one with indented lines of its own keeps its words and loses
 * its link). A further line for the same file stays, unless it repeats an earlier one letter by
 * letter; a line exactly as this adds it gives way to one in a writer's own words (healing can come
 * between its writer's two steps). Everything else keeps its bytes, line ends and order. Doing it
 * twice changes nothing. It passes over the index itself and what is no canonical path to an `*.md`.
 * Where not all lines fit into `bytes`, it adds the first of those that are missing.
 */
export function reconcileIndex(input: {
  index: string | undefined;
  files: readonly TopicFile[];
  /** UTF-8 bytes that the index may have: added lines must fit, in the order given. */
  bytes?: number | undefined;
}): Reconciled {
  const files = new Map(
    input.files.filter(({ path }) => isTopicFile(path)).map((file) => [file.path, file]),
  );
  const index = input.index ?? "";
  const { text: clean, dropped, duplicates } = dropLines(index, files);
  const { text: full, added } = addLines(clean, files, input.bytes ?? Number.POSITIVE_INFINITY);
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

/** What may come between added lines and the rest, at most. */
const SEPARATOR_BYTES = 32;

function dropLines(index: string, files: Files) {
  const dropped = new Set<string>();
  const duplicates = new Set<string>();
  const seen = new Map<string, Set<string>>();
  const lines = indexLines(index);
  const going = new Map<Line, "gone" | "repeated">();
  for (const line of lines) {
    if (!line.pointer) continue;
    const { path } = line.pointer;
    if (!files.has(path)) {
      dropped.add(path);
      going.set(line, "gone");
      continue;
    }
    const before = seen.get(path) ?? new Set();
    if (before.size > 0) duplicates.add(path);
    if (before.has(line.text.trim())) going.set(line, "repeated");
    seen.set(path, before.add(line.text.trim()));
  }
  for (const line of lines) {
    const file = line.pointer && files.get(line.pointer.path);
    const texts = file && seen.get(file.path);
    if (!file || !texts || texts.size < 2 || line.text.trim() !== formatPointer(file)) continue;
    going.set(line, "repeated");
  }
  // From the end: what a line holds together depends on what stays below it.
  const kept: string[] = [];
  let below: Line | undefined;
  for (const line of lines.toReversed()) {
    const raw = index.slice(line.start, line.end);
    const why = going.get(line);
    const holds = below !== undefined && isHeldBy(line, below);
    if (why !== undefined && !holds) continue;
    const { pointer } = line;
    kept.push(
      why === "gone" && pointer ? raw.replace(line.text, () => unlinked(line.text, pointer)) : raw,
    );
    if (!isBlank(line)) below = line;
  }
  const text = index.slice(0, textStart(index)) + kept.toReversed().join("");
  return { text, dropped, duplicates };
}

function addLines(
  text: string,
  files: Files,
  bytesMost: number,
): { text: string; added: string[] } {
  const lines = indexLines(text);
  const present = new Set(lines.map(({ pointer }) => pointer?.path));
  const missing = [...files.values()].filter(({ path }) => !present.has(path));
  const end = /^[^\n]*\r\n/.test(text) ? "\r\n" : "\n";
  let room = bytesMost - byteLength(text) - SEPARATOR_BYTES;
  const added: string[] = [];
  let block = "";
  for (const file of missing) {
    const line = formatPointer(file) + end;
    room -= byteLength(line);
    if (room < 0) break;
    added.push(file.path);
    block += line;
  }
  if (added.length === 0) return { text, added };
  const first = lines.find(({ pointer }) => pointer !== undefined);
  const at = first?.start ?? belowHeading(text, lines);
  const before = text.slice(0, at);
  const after = text.slice(at);
  if (first) return { text: before + block + after, added };
  const following = lines.find((line) => line.start >= at && !isBlank(line));
  const gap = before.length === textStart(text) || before.endsWith("\n") ? "" : end + end;
  return { text: before + gap + block + separator(following, end) + after, added };
}

/** After a heading that opens the index, and the blank lines after it; else the very beginning. */
function belowHeading(text: string, lines: Line[]): number {
  const [first, next] = lines.filter((line) => !isBlank(line));
  const heading = /^ {0,3}#{1,6}(?:\s|$)/.test(first?.text ?? "");
  return (heading ? next?.start : lines[0]?.start) ?? text.length;
}

/** Keeps what follows from becoming part of the list above it. */
function separator(following: Line | undefined, end: string): string {
  if (following === undefined) return "";
  return isIndented(following) ? `${end}<!-- -->${end}${end}` : end;
}

/**
 * The warning to the writer of an index that is over its limits (the write itself succeeds), in
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
