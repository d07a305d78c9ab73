// A thread is one conversation with a model in the rows of an object: a session's main one, a
// subagent's, a background fork's, a dream's. Every row has the key of its thread. No file of this folder
// knows which kind of object it is in.

import type { Draft } from "../../shared/thread/entry.ts";
import type { TextBlock } from "../../shared/thread/messages.ts";

/** A thread of an object. */
export interface Thread {
  sql: SqlStorage;
  /** Unique in its object: "main", "fork-7". */
  id: string;
  /** Unique in its object too, from 0 to 2^20: where its messages lie. */
  number: number;
  /** The content of what people said: of an event by its number. */
  said?: ((event: number) => TextBlock[]) | undefined;
  /** What it begins with, where that is not on disk yet: it goes there with its first entry. */
  opening?: Opening | undefined;
}

/** The first message of a thread, and the files that its model knows then: etags by path. */
export interface Opening {
  draft: Draft;
  known: ReadonlyMap<string, string>;
}

/** Messages that a thread can have. */
const THREAD_ROWS = 2 ** 32;

/** The rows of a thread's messages: entry 1 has the row `before + 1`. */
export function rowsOf({ number }: Pick<Thread, "number">): { before: number; last: number } {
  const before = number * THREAD_ROWS;
  return { before, last: before + THREAD_ROWS - 1 };
}

/** The object that a thread runs in. */
export interface ThreadContext {
  sql: SqlStorage;
  /** Runs a function as one transaction, then notifies the listeners. */
  commit<T>(write: () => T): T;
  /** Milliseconds since the epoch. */
  now(): number;
}
