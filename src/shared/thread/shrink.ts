// How old entries are shown to make room without losing what was said: a marker in the place of a
// result that the same call gives again, a pointer in the place of one that is stored, no thinking.

import type { Entry } from "./entry.ts";
import type { Message, ToolResultBlock } from "./messages.ts";
import { toolCallsOf, withoutThinking } from "./messages.ts";

/** Tools whose result can be had again by the same call. */
const REPRODUCIBLE = new Set(["Read", "Glob", "Grep"]);
/** A shorter result is not worth a marker, in UTF-16 units. */
const CLEARED_CHARACTERS = 400;

/** How far a shrinking has gone: so many of the oldest entries. */
export interface Shrunk {
  /** Whose results are markers. */
  results: number;
  /** Whose thinking is left out: it is bound to what stood before it, so this is at least `results`. */
  thinking: number;
}

/**
 * The same entries, the oldest of them shrunk; without those of which nothing is left. The same input
 * gives the same bytes; done twice it changes nothing more.
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
      block.type === "tool_result" ? (cleared(entry, block, names) ?? block) : block,
    );
    return [{ ...entry, message: { role: "user" as const, content } }];
  });
}

/** The calls whose results are left out where so many of the oldest entries are shrunk. */
export function clearedCalls(entries: readonly Entry[], results: number): Set<string> {
  const names = toolNames(entries);
  const ids = entries.slice(0, results).flatMap((entry) =>
    resultsOf(entry.message).flatMap((block) => {
      return cleared(entry, block, names) ? [block.tool_use_id] : [];
    }),
  );
  return new Set(ids);
}

/** The results of calls that a message holds. */
export function resultsOf({ role, content }: Message): ToolResultBlock[] {
  return role === "user" ? content.filter((block) => block.type === "tool_result") : [];
}

/** Undefined for a result that stays. */
function cleared(
  { origin }: Entry,
  block: ToolResultBlock,
  names: ReadonlyMap<string, string>,
): ToolResultBlock | undefined {
  if (block.content.length < CLEARED_CHARACTERS) return undefined;
  const stored = origin.type === "results" ? origin.stored : [];
  const whole = stored.find(({ callId }) => callId === block.tool_use_id);
  if (whole) return { ...block, content: pointer(whole.path) };
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
