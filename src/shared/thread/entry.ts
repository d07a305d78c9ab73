import { type Day, dayInWords } from "../text/local-time.ts";
import type { Message } from "./messages.ts";

/**
 * Where an entry of a transcript comes from. Code that treats entries differently decides by this and
 * never by their text: a user may write the same text as we do.
 */
export type Origin =
  /** The user's message. */
  | { type: "user" }
  /** The model's answer. */
  | { type: "model" }
  /**
   * Results of tool calls. `stored`: the files with the whole text of those that were cut.
   */
  | { type: "results"; stored: readonly StoredResult[] }
  /** Memories that a search found. */
  | { type: "recall"; memories: readonly RecalledMemory[] }
  /** A message of ours to the model. */
  | { type: "reminder" }
  /** What day it is, from here to the next one. */
  | ({ type: "day" } & Day)
  /** The task of a background run. */
  | { type: "task" }
  /** The summary that replaces what a compaction cut. `day`: the one on which what follows was said. */
  | { type: "summary"; day?: Day | undefined }
  /** The marker of the user's interrupt. */
  | { type: "interrupt" };

/** The file with the whole result of a call. */
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

/** A message of a thread's transcript. */
export interface Entry {
  /** Grows within a thread. */
  n: number;
  turn: number;
  origin: Origin;
  message: Message;
}

/** A message that a thread does not contain yet. */
export interface Draft extends Pick<Entry, "origin" | "message"> {
  /** The number of the event that has its content, where one has: the thread does not keep it again. */
  said?: number | undefined;
}

/** A draft of one text, with the role `user`. */
export function textDraft(origin: Origin, text: string): Draft {
  return { origin, message: { role: "user", content: [{ type: "text", text }] } };
}

/** The entry that tells the model what day it is: it holds for what comes after it. */
export function dayDraft(day: Day): Draft {
  const text = `<system-reminder>Today is ${dayInWords(day)}.</system-reminder>`;
  return textDraft({ type: "day", ...day }, text);
}

/** The day that holds at the end of these entries; undefined where none of them tells one. */
export function dayIn(entries: readonly Entry[]): Day | undefined {
  for (const { origin } of entries.toReversed()) {
    if (origin.type === "day") return { date: origin.date, zone: origin.zone };
    if (origin.type === "summary" && origin.day) return origin.day;
  }
  return undefined;
}
