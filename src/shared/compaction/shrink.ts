// Making room without losing what was said: old results that a tool gives again are left out, those
// whose whole text is kept in a file point to it, and so is old thinking. One batch at a time, since
// each costs the prompt cache all that stands behind the first change.

import type { Message, UserBlock } from "../loop/messages.ts";
import { toolCallsOf, withoutThinking } from "../loop/messages.ts";
import { keptPath } from "../loop/stored-result.ts";

/** Tools whose result can be had again by the same call. */
const REPRODUCIBLE = new Set(["Read", "Glob", "Grep"]);
/** The newest results that stay: the model is at work with them. */
const RESULTS_KEPT = 5;
/** A shorter result is not worth a marker, in UTF-16 units. */
const CLEARED_CHARACTERS = 400;

/** How far a shrinking has gone: so many of the oldest messages. */
export interface Shrunk {
  /** Whose results are markers. */
  results: number;
  /** Whose thinking is left out: it is bound to what stood before it, so this is at least `results`. */
  thinking: number;
}

/**
 * The same messages with markers in place of old results, and without old thinking; undefined where
 * nothing is left of one. The same input gives the same bytes; done twice it changes nothing more.
 */
export function shrinkEach(
  messages: readonly Message[],
  { results, thinking }: Shrunk,
): (Message | undefined)[] {
  const names = new Map(
    messages.flatMap((message) => toolCallsOf(message).map(({ id, name }) => [id, name])),
  );
  return messages.map((message, at) => {
    if (message.role === "assistant") return at < thinking ? withoutThinking(message) : message;
    if (at >= results) return message;
    return { role: "user", content: message.content.map((block) => cleared(block, names)) };
  });
}

/** The same, without what nothing is left of. */
export function shrink(messages: readonly Message[], how: Shrunk): Message[] {
  return shrinkEach(messages, how).filter((message) => message !== undefined);
}

/**
 * Of how many of the oldest messages the results may go: all up to the newest ones, which stay. Those
 * of the newest answer are all among them: the model may not have seen them yet.
 */
export function shrinkable(messages: readonly Message[]): number {
  let kept = 0;
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at];
    if (message?.role !== "user") continue;
    const results = message.content.filter((block) => block.type === "tool_result").length;
    if (results > 0 && kept > 0 && kept + results > RESULTS_KEPT) return at + 1;
    kept += results;
  }
  return 0;
}

/** The files whose content a shrinking takes out of the conversation: paths as they were read. */
export function filesCleared(before: readonly Message[], after: readonly Message[]): string[] {
  const shown = (messages: readonly Message[]) => {
    const texts = new Map<string, string>();
    for (const { role, content } of messages) {
      if (role !== "user") continue;
      for (const block of content) {
        if (block.type === "tool_result") texts.set(block.tool_use_id, block.content);
      }
    }
    return messages.flatMap((message) =>
      toolCallsOf(message).flatMap(({ id, name, input }) =>
        name === "Read" && typeof input.file_path === "string"
          ? [{ path: input.file_path, text: texts.get(id) }]
          : [],
      ),
    );
  };
  const still = new Set(shown(after).flatMap(({ path, text }) => (isMarker(text) ? [] : [path])));
  const gone = shown(before).filter(({ path }) => !still.has(path));
  return [...new Set(gone.map(({ path }) => path))];
}

function cleared(block: UserBlock, names: ReadonlyMap<string, string>): UserBlock {
  if (block.type !== "tool_result" || block.content.length < CLEARED_CHARACTERS) return block;
  const path = keptPath(block.content);
  if (path !== undefined) return { ...block, content: pointer(path) };
  const name = names.get(block.tool_use_id);
  if (name === undefined || !REPRODUCIBLE.has(name)) return block;
  return { ...block, content: marker(name) };
}

const MARK = "[The old result of";

function marker(name: string): string {
  return `${MARK} this ${name} was left out to make room. Call ${name} again if you need it]`;
}

function pointer(path: string): string {
  return `${MARK} this call was left out to make room. All of it is in ${path}: Read it if you need it]`;
}

function isMarker(text: string | undefined): boolean {
  return text === undefined || text.startsWith(MARK);
}
