// What a fork shares with the conversation that it goes on from: the parent's own bytes, so that it
// reads the parent's prompt cache.

import { entryTokens } from "../../../src/platform/threads/size.ts";
import type { Scope } from "../../../src/platform/threads/view.ts";
import { readShown } from "../../../src/platform/threads/view.ts";
import type { ForkPrefix } from "../../../src/shared/fork/run-fork.ts";
import type { Entry } from "../../../src/shared/thread/entry.ts";
import { dayDraft, dayIn, REMINDER, textDraft } from "../../../src/shared/thread/entry.ts";
import { shrink } from "../../../src/shared/thread/shrink.ts";
import { sentMessages } from "../../../src/shared/thread/view.ts";
import type { Conversation } from "./conversation.ts";

/** The parent's part of a fork's requests, and the entries that it is made of. */
export interface SharedPrefix extends ForkPrefix {
  entries: readonly Entry[];
  /** Whether the turns that were asked for are there word for word. */
  whole: boolean;
}

/** What the parent sent, until now or within this scope, byte for byte. */
export function forkPrefix(of: Conversation, scope: Scope = {}): SharedPrefix {
  const { meta, limits, system, tools } = of;
  const { head, tail, whole } = fitting(of, scope);
  return {
    model: meta.model,
    maxTokens: limits.answer,
    system,
    tools,
    messages: sentMessages({ head, tail }),
    entries: [...head, ...tail],
    whole,
  };
}

/**
 * Word for word from the first turn that is asked for, after what the parent was sent before it; where
 * that is too much, after a word that something is left out.
 */
function fitting(
  { thread, limits }: Conversation,
  scope: Scope,
): { head: Entry[]; tail: Entry[]; whole: boolean } {
  const whole = readShown(thread, scope);
  const fits = (entries: readonly Entry[]) => entryTokens(entries) <= limits.compactAt;
  const { fromTurn, ...rest } = scope;
  if (fromTurn === undefined || fits([...whole.head, ...whole.tail])) {
    return { ...whole, whole: true };
  }
  const own = whole.tail.filter(({ turn }) => turn >= fromTurn);
  // Thinking is bound to what stood before it.
  const before = whole.tail.slice(0, whole.tail.length - own.length);
  const head = [LEFT_OUT];
  // A new day's first message comes behind its date; any other says "tomorrow" of the day before it.
  const day = own[0]?.origin.type === "day" ? undefined : dayIn([...whole.head, ...before]);
  if (day) head.push({ ...LEFT_OUT, ...dayDraft(day) });
  for (const results of [0, own.length]) {
    const tail = shrink(own, { results, thinking: own.length });
    if (fits([...head, ...tail])) return { head, tail, whole: true };
  }
  return { ...readShown(thread, rest), whole: false };
}

const LEFT_OUT: Entry = {
  n: 0,
  turn: 0,
  ...textDraft(
    REMINDER,
    "<system-reminder>The beginning of this conversation is left out here.</system-reminder>",
  ),
};
