// What the model sees of a transcript. The transcript itself stays whole: a compaction or a shrinking
// is a view, from which on the conversation is shown in another way. Between two views each request
// begins with the bytes of the one before.

import type { Entry } from "./entry.ts";
import type { Message } from "./messages.ts";
import { shrink } from "./shrink.ts";
import { withWholePairs } from "./whole-pairs.ts";

/** How a transcript is shown from some moment on. Numbers are those of entries. */
export interface View {
  /** Entries up to this number are left out; `head` stands in their place. */
  cut: number;
  head: Entry[];
  /** Entries up to these numbers have markers for results, and no thinking. */
  results: number;
  thinking: number;
}

/** All of it. */
export const WHOLE: View = { cut: 0, head: [], results: 0, thinking: 0 };

/** A transcript as the model sees it. */
export interface Shown {
  head: Entry[];
  /** What follows the head. */
  tail: Entry[];
}

/** How these entries look in a view. */
export function show(view: View, entries: readonly Entry[]): Shown {
  const tail = entries.filter(({ n }) => n > view.cut);
  const upTo = (last: number) => tail.filter(({ n }) => n <= last).length;
  const how = { results: upTo(view.results), thinking: upTo(view.thinking) };
  return { head: view.head, tail: shrink(tail, how) };
}

/** The messages as they are sent: always such that the API takes them. */
export function sentMessages({ head, tail }: Shown): Message[] {
  return withWholePairs([...head, ...tail].map(({ message }) => message));
}
