import type { Message } from "./messages.ts";

/**
 * Where an entry of a transcript comes from. Whoever treats entries apart asks this, and never looks at
 * their words: a person may write whatever we write.
 */
export type Origin =
  /** What a person said. */
  | { type: "user" }
  /** What the model answered. */
  | { type: "model" }
  /**
   * Results of tool calls. `stored`: the files that hold all of those of which the conversation has the
   * beginning.
   */
  | { type: "results"; stored: readonly StoredResult[] }
  /** Memories that a search found. */
  | { type: "recall"; memories: readonly RecalledMemory[] }
  /** A word of ours to the model. */
  | { type: "reminder" }
  /** What a background run is asked to do. */
  | { type: "task" }
  /** What stands in the place of what a compaction cut. */
  | { type: "summary" }
  /** The mark of the user's interrupt. */
  | { type: "interrupt" };

/** Where all of the result of a call lies. */
export interface StoredResult {
  callId: string;
  path: string;
}

/** Where the text of a recalled memory is in its message, in UTF-16 units. */
export interface RecalledMemory {
  path: string;
  start: number;
  end: number;
}

export const USER: Origin = { type: "user" };
export const MODEL: Origin = { type: "model" };
export const REMINDER: Origin = { type: "reminder" };

/** A message of a thread: whose it is and where it stands. */
export interface Entry {
  /** Grows within a thread. */
  n: number;
  turn: number;
  origin: Origin;
  message: Message;
}

/** A message that is on its way into a thread. */
export type Draft = Pick<Entry, "origin" | "message">;

/** A draft of one text by our side. */
export function textDraft(origin: Origin, text: string): Draft {
  return { origin, message: { role: "user", content: [{ type: "text", text }] } };
}
