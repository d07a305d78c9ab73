// The summary of the entries that are cut. If they do not fit into one prompt they are summarised in
// parts, each after the summary of the parts before it, so that nothing is left out.

import { COMPACTION_PARTS } from "../limits/compaction.ts";
import type { FailureKind } from "../loop/model.ts";
import { byteLength, cutBytes } from "../text/bytes.ts";
import type { Entry } from "../thread/entry.ts";
import { dayIn } from "../thread/entry.ts";
import type { Message } from "../thread/messages.ts";
import { resultsOf, shrink } from "../thread/shrink.ts";
import { BYTES_PER_TOKEN } from "../thread/tokens.ts";
import { boundaryEntry, summaryTask } from "./boundary.ts";
import { messageTokens } from "./size.ts";

export type Summary =
  | { status: "answered"; text: string }
  | { status: "failed"; kind: FailureKind | "unfinished" };

interface SummaryInput {
  /** What stands before the entries: the head of earlier compactions, or notes. */
  base: readonly Entry[];
  entries: readonly Entry[];
  /** Whether base and entries have the bytes of earlier requests, so that the prompt cache is read. */
  asSent: boolean;
  /** Tokens by bytes that base and entries may have in one prompt. */
  room: number;
  /** The time now, in words. */
  time: string;
}

/** One call of the model with these messages. */
type Ask = (messages: readonly Message[], signal: AbortSignal) => Promise<Summary>;

/** One message may have at most this part of a prompt; it is cut there with a mark. */
const MESSAGE_SHARE = 1 / 2;

/**
 * Calls the model once for each part, at most `COMPACTION_PARTS` times. After a prompt that proves too
 * long the parts are half as large. Fails with the failure of a call.
 */
export async function summarise(
  { base, entries, asSent, room, time }: SummaryInput,
  ask: Ask,
  signal: AbortSignal,
): Promise<Summary> {
  if (entries.length === 0) return { status: "answered", text: "" };
  const fits = entryTokens([...base, ...entries]) <= room;
  let before = base;
  let left = fits && asSent ? entries : shrunk(entries);
  let most = room;
  let summary: Summary = { status: "failed", kind: "too_long" };
  for (let calls = 0; left.length > 0; calls += 1) {
    if (calls === COMPACTION_PARTS) return { status: "failed", kind: "too_long" };
    const { part, rest } =
      fits && calls === 0 ? { part: left, rest: [] } : firstPart(left, most - entryTokens(before));
    const asked = [...before, ...part];
    const messages = asked.map(({ message }) => message);
    summary = await ask([...messages, summaryTask(time)], signal);
    if (summary.status === "answered") {
      before = [boundaryEntry(summary.text, [], dayIn(asked))];
      left = rest;
    } else if (summary.kind === "too_long") {
      most = Math.floor(most / 2);
      // Only the first call may have sent the entries unshrunk, and it has used none of them up.
      if (calls === 0) left = shrunk(entries);
    } else return summary;
  }
  return summary;
}

/** The entries without thinking, and without results that a call can produce again. */
function shrunk(entries: readonly Entry[]): Entry[] {
  return shrink(entries, { results: entries.length, thinking: entries.length });
}

function entryTokens(entries: readonly Entry[]): number {
  return messageTokens(entries.map(({ message }) => message));
}

/** As many of the oldest entries as fit, at least one step. No call loses its result. */
function firstPart(entries: readonly Entry[], most: number): { part: Entry[]; rest: Entry[] } {
  const bounded = entries.map((entry) => ({
    ...entry,
    message: withinBytes(entry.message, most * MESSAGE_SHARE * BYTES_PER_TOKEN),
  }));
  let tokens = 0;
  let end = bounded.length;
  for (const [at, entry] of bounded.entries()) {
    tokens += entryTokens([entry]);
    if (tokens > most && at > 0 && resultsOf(entry.message).length === 0) {
      end = at;
      break;
    }
  }
  return { part: bounded.slice(0, end), rest: entries.slice(end) };
}

/** Cuts a message so that its texts and results together have at most `most` bytes. */
function withinBytes(message: Message, most: number): Message {
  const each = Math.floor(most / message.content.length);
  if (message.role === "assistant") {
    const content = message.content.map((block) =>
      block.type === "text" ? { ...block, text: cutText(block.text, each) } : block,
    );
    return { role: "assistant", content };
  }
  const content = message.content.map((block) =>
    block.type === "text"
      ? { ...block, text: cutText(block.text, each) }
      : { ...block, content: cutText(block.content, each) },
  );
  return { role: "user", content };
}

function cutText(text: string, most: number): string {
  if (byteLength(text) <= most) return text;
  return `${cutBytes(text, Math.max(1, most))}\n[The rest was too long to be summarised]`;
}
