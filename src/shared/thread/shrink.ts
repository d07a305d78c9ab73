// Shrinks old entries to make room without losing what was said: a marker replaces a result that the
// same call can produce again, a pointer replaces one that is stored, and thinking is left out.

import type { Entry } from "./entry.ts";
import type { Message, ToolResultBlock } from "./messages.ts";
import { toolCallsOf, withoutThinking } from "./messages.ts";

/** Tools whose result the same call can produce again. */
const REPRODUCIBLE = new Set(["Read", "Glob", "Grep"]);
/** A result shorter than this stays, in UTF-16 units: a marker would not save much. */
const CLEARED_CHARACTERS = 400;

/** How many of the oldest entries are shrunk. */
interface Shrunk {
  /** Entries whose results are markers. */
  results: number;
  /** Entries without thinking. At least `results`: thinking is bound to everything before it. */
  thinking: number;
}

/**
 * The same entries, the oldest of them shrunk, without those that become empty. The same input gives
 * the same bytes; shrinking twice changes nothing more.
 */
export function shrink(entries: readonly Entry[], { results, thinking }: Shrunk): Entry[] {
  const names = toolNames(entries);
  return entries.flatMap((entry, at) => {
    const { message } = entry;
    if (message.role === "assistant") {
      const shown = at < thinking ? withoutThinking(message) : message;
      return shown ? [{ ...entry, message: shown }] : [];
    }
    if (at >= results) return [entry];
    const content = message.content.map((block) =>
      block.type === "tool_result" ? (clearedBlock(entry, block, names) ?? block) : block,
    );
    return [{ ...entry, message: { role: "user" as const, content } }];
  });
}

/** The ids of the calls whose results are cleared if so many of the oldest entries are shrunk. */
export function clearedCalls(entries: readonly Entry[], results: number): Set<string> {
  const names = toolNames(entries);
  const ids = entries.slice(0, results).flatMap((entry) =>
    resultsOf(entry.message).flatMap((block) => {
      return clearedBlock(entry, block, names) ? [block.tool_use_id] : [];
    }),
  );
  return new Set(ids);
}

/** The tool results of a message. */
export function resultsOf({ role, content }: Message): ToolResultBlock[] {
  return role === "user" ? content.filter((block) => block.type === "tool_result") : [];
}

/** The block with a marker or pointer; undefined for a result that stays. */
function clearedBlock(
  { origin }: Entry,
  block: ToolResultBlock,
  names: ReadonlyMap<string, string>,
): ToolResultBlock | undefined {
  if (block.content.length < CLEARED_CHARACTERS) return undefined;
  const stored = origin.type === "results" ? origin.stored : [];
  const file = stored.find(({ callId }) => callId === block.tool_use_id);
  if (file) return { ...block, content: pointer(file.path) };
  const name = names.get(block.tool_use_id);
  if (name === undefined || !REPRODUCIBLE.has(name)) return undefined;
  return { ...block, content: marker(name) };
}

function toolNames(entries: readonly Entry[]): Map<string, string> {
  return new Map(
    entries.flatMap(({ message }) => toolCallsOf(message).map(({ id, name }) => [id, name])),
  );
}

function marker(name: string): string {
  return `[The old result of this ${name} was left out to make room. Call ${name} again if you need it]`;
}

function pointer(path: string): string {
  return `[The old result of this call was left out to make room. All of it is in ${path}: Read it if you need it]`;
}
