// The copies of a memory that a session holds beside what was said in it: attachments, results of tools
// that showed it, its line in the prompt's index, files that a compaction attached. Each is found by the
// path that it is a copy of, and what takes its place is known before anything is changed.

import * as z from "zod";
import { parseIndex } from "../../../src/shared/memdir/index-lines.ts";
import { canonicalPath, isWithin } from "../../../src/shared/safety/path.ts";

/** What takes the place of a copy. */
export const ERASED = "[What stood here was erased: its memory was redacted.]";
const ERASED_RECALL = `<system-reminder>\n${ERASED}\n</system-reminder>`;

/** Which memories are erased. Paths are relative to the directory. */
export interface Erased {
  directory: string;
  has(path: string): Promise<boolean>;
}

const callSchema = z.object({ id: z.string(), name: z.string(), input: z.looseObject({}) });
const resultSchema = z.looseObject({ tool_use_id: z.string(), content: z.string() });

/** A line that is shorter says too little to be known as a quotation, in characters. */
const QUOTE_LEAST = 16;

/** A call that may have shown a memory. `all`: its whole result is that of an erased one. */
interface Looking {
  all: boolean;
}

/** Follows the calls of a conversation to their results. */
export function createCopies(erased: Erased) {
  const calls = new Map<string, Looking>();
  /** Lines of what was erased: an answer may repeat one word for word. */
  const quotes = new Set<string>();
  const { directory } = erased;
  const below = `${directory}/`;

  /** Notes lines of an erased copy, without the numbers and paths that tools put before them. */
  function erase(text: string): void {
    for (const line of text.split("\n")) {
      const own = numberless(line).replace(/^(?:name|description): /, "");
      if (own.trim().length >= QUOTE_LEAST) quotes.add(own.trim());
    }
  }

  /** An answer without the lines that it repeats; undefined where it repeats none. */
  function unquoted(text: string): string | undefined {
    let left = text;
    for (const quote of quotes) left = left.replaceAll(quote, () => ERASED);
    return left === text ? undefined : left;
  }

  /** A path as the agent writes it. */
  async function isErased(raw: unknown): Promise<boolean> {
    if (typeof raw !== "string") return false;
    const path = canonicalPath(raw);
    if (path.status === "refused" || !path.path.startsWith(below)) return false;
    return erased.has(path.path.slice(below.length));
  }

  /** Notes a call: its result may be a copy. */
  async function call(id: string, input: Readonly<Record<string, unknown>>): Promise<void> {
    const { file_path, path } = input;
    const inside = [file_path, path].some((raw) => isNear(raw, directory));
    if (inside) calls.set(id, { all: await isErased(file_path) });
  }

  /** What takes a result's place; undefined where it shows nothing that was erased. */
  async function result(id: string, content: string): Promise<string | undefined> {
    const looking = calls.get(id);
    if (looking?.all) {
      erase(content);
      return ERASED;
    }
    // A search without a path may have gone through the directory too.
    if (!looking && !content.includes(below)) return undefined;
    const lines = content.split("\n");
    let changed = false;
    for (const [n, line] of lines.entries()) {
      if (!(await showsErased(line))) continue;
      erase(line);
      lines[n] = ERASED;
      changed = true;
    }
    return changed ? lines.join("\n") : undefined;
  }

  /** A line of a search (`path:7: text`) or of an index, with the number that Read puts before it. */
  async function showsErased(line: string): Promise<boolean> {
    const found = /^(.+?):\d+: /.exec(line)?.[1];
    if (found !== undefined && (await isErased(found))) return true;
    for (const { path } of parseIndex(numberless(line))) {
      if (await erased.has(path)) return true;
    }
    return false;
  }

  /** The blocks of a user's message without the copies among its results; the results that changed. */
  async function results(
    content: readonly unknown[],
  ): Promise<{ content: unknown[]; changed: string[] }> {
    const changed: string[] = [];
    const blocks: unknown[] = [];
    for (const block of content) {
      const parsed = resultSchema.safeParse(block).data;
      const instead = parsed && (await result(parsed.tool_use_id, parsed.content));
      if (instead !== undefined && parsed) changed.push(parsed.tool_use_id);
      blocks.push(instead === undefined ? block : { ...parsed, content: instead });
    }
    return { content: blocks, changed };
  }

  /** Notes the calls among the blocks of an answer. */
  async function answer(content: readonly unknown[]): Promise<void> {
    for (const block of content) {
      const parsed = callSchema.safeParse(block).data;
      if (parsed) await call(parsed.id, parsed.input);
    }
  }

  return { call, result, answer, results, isErased, erase, unquoted };
}

/** A line without the number that Read, or the place that Grep, puts before it. */
function numberless(line: string): string {
  return line.replace(/^(?:.+?:|\s*)\d+(?:\t|: )/, "");
}

/** A place that a tool looks into, and the directory: one of them is within the other. */
function isNear(raw: unknown, directory: string): boolean {
  if (typeof raw !== "string") return false;
  const path = canonicalPath(raw);
  if (path.status === "refused") return false;
  return isWithin(directory, path.path) || isWithin(path.path, directory);
}

/** An attachment goes whole: its other memories may be attached again. */
export function recallInstead(): { role: "user"; content: { type: "text"; text: string }[] } {
  return { role: "user", content: [{ type: "text", text: ERASED_RECALL }] };
}

/** Where the index begins in a block of the prompt; undefined where it is in another one. */
function indexAt(block: string): number | undefined {
  const begin = block.indexOf("<memory_index ");
  return begin < 0 ? undefined : block.indexOf("\n", begin) + 1;
}

/** The memories in the index of a block of the prompt. */
export function indexed(block: string): string[] {
  const from = indexAt(block);
  return from === undefined ? [] : parseIndex(block.slice(from)).map(({ path }) => path);
}

/** A block of the prompt without the index lines of erased memories; undefined where it has none. */
export async function promptInstead(erased: Erased, block: string): Promise<string | undefined> {
  const from = indexAt(block);
  if (from === undefined) return undefined;
  let text = block;
  for (const { path, start, end } of parseIndex(block.slice(from)).toReversed()) {
    if (await erased.has(path)) text = text.slice(0, from + start) + text.slice(from + end);
  }
  return text === block ? undefined : text;
}

/** The text of a compaction's boundary without the files of erased memories; undefined where it has none. */
export async function boundaryInstead(erased: Erased, text: string): Promise<string | undefined> {
  let changed = text;
  const below = `${erased.directory}/`;
  for (const [whole, path = ""] of text.matchAll(/<file path="([^"]*)">\n[\s\S]*?\n<\/file>/g)) {
    if (!path.startsWith(below) || !(await erased.has(path.slice(below.length)))) continue;
    changed = changed.replace(whole, () => ERASED);
  }
  return changed === text ? undefined : changed;
}
