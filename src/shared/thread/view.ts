// What the model sees of a transcript. The transcript itself stays whole: a compaction or a shrinking
// adds a view. As long as the view is the same, each request begins with the bytes of the one before.

import type { Entry } from "./entry.ts";
import type { Message } from "./messages.ts";
import { shrink } from "./shrink.ts";
import { withWholePairs } from "./whole-pairs.ts";

/** How a transcript is shown. Numbers are those of entries. */
export interface View {
  /** Entries up to this number are left out; `head` replaces them. */
  cut: number;
  head: Entry[];
  /** Entries up to these numbers have markers in place of results, and no thinking. */
  results: number;
  thinking: number;
}

/** The view of a whole transcript. */
export const WHOLE: View = { cut: 0, head: [], results: 0, thinking: 0 };

/** A transcript as the model sees it. */
export interface Shown {
  head: Entry[];
  tail: Entry[];
}

/** Applies a view to the entries of its thread. */
export function show(view: View, entries: readonly Entry[]): Shown {
  const tail = entries.filter(({ n }) => n > view.cut);
  const upTo = (last: number) => tail.filter(({ n }) => n <= last).length;
  const shrunk = { results: upTo(view.results), thinking: upTo(view.thinking) };
  return { head: view.head, tail: shrink(tail, shrunk) };
}

/** The messages of a request; the API always accepts them. */
export function sentMessages({ head, tail }: Shown): Message[] {
  return withWholePairs([...head, ...tail].map(({ message }) => message));
}
