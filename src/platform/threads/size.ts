// The token count of a conversation, and the state of its shrinkings and compactions.

import * as z from "zod";
import { messageTokens, NO_SIZE, sizeAfterAnswer } from "../../shared/compaction/size.ts";
import type { Usage } from "../../shared/loop/model.ts";
import type { Entry } from "../../shared/thread/entry.ts";
import { defineState } from "../state.ts";
import { lastEntry, readEntries } from "./entries.ts";
import type { Thread } from "./thread.ts";
import { readShown } from "./view.ts";

const schema = z.object({
  /** Tokens of the entries up to `upTo`, by the API's count; null after a cut. */
  counted: z.number().nullable(),
  upTo: z.number(),
  ratio: z.number(),
  /** Below these tokens no shrinking or compaction is due, since the last one made little room. */
  shrinkFrom: z.number(),
  compactFrom: z.number(),
  /** Compactions that failed in a row, and the turn of the last of them. */
  failures: z.number(),
  failedTurn: z.number(),
  /** A client asked for a compaction, and how often one was begun for that. */
  requested: z.boolean(),
  begun: z.number(),
});

type ThreadSize = z.infer<typeof schema>;

const NONE: ThreadSize = {
  ...NO_SIZE,
  upTo: 0,
  shrinkFrom: 0,
  compactFrom: 0,
  failures: 0,
  failedTurn: 0,
  requested: false,
  begun: 0,
};

const sizes = defineState("size", schema, NONE);

export function readSize({ sql, id }: Thread): ThreadSize {
  return sizes.read(sql, id);
}

/** Changes some fields. Within a transaction. */
export function changeSize(thread: Thread, change: Partial<ThreadSize>): void {
  sizes.write(thread.sql, { ...readSize(thread), ...change }, thread.id);
}

/** Within a transaction. */
export function clearSize({ sql, id }: Thread): void {
  sizes.clear(sql, id);
}

/** Tokens by bytes of what the API has not counted yet. `fixed`: those before the messages. */
export function tailTokens(thread: Thread, fixed: number): number {
  const { counted, upTo } = readSize(thread);
  // What was counted is not read again.
  if (counted !== null) return entryTokens(readEntries(thread, { after: upTo }));
  const { head, tail } = readShown(thread);
  return fixed + entryTokens([...head, ...tail]);
}

/** Tokens by bytes of entries. */
export function entryTokens(entries: readonly Entry[]): number {
  return messageTokens(entries.map(({ message }) => message));
}

/**
 * Updates the size after an answer. `tail`: tokens by bytes that its request had after the last count.
 * `window`: the context window in tokens. Within the transaction of the answer, after its message.
 */
export function noteAnswered(thread: Thread, tail: number, window: number, usage: Usage): void {
  const size = sizeAfterAnswer(readSize(thread), tail, window, usage);
  if (size) changeSize(thread, { ...size, upTo: lastEntry(thread) });
}
