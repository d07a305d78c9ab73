// The summary of the entries that are cut. If they do not fit into one prompt they are summarised in
// parts, each after the summary of the parts before it, so that nothing is left out.

import { COMPACTION_PARTS } from "../limits/compaction.ts";
import type { FailureKind } from "../loop/model.ts";
import { byteLength, cutBytes } from "../text/bytes.ts";
import type { Entry } from "../thread/entry.ts";
import type { Message } from "../thread/messages.ts";
import { withoutThinking } from "../thread/messages.ts";
import { resultsOf, shrink } from "../thread/shrink.ts";
import { BYTES_PER_TOKEN } from "../thread/tokens.ts";
import { boundaryMessage, SUMMARY_TASK } from "./boundary.ts";
import { messageTokens } from "./size.ts";

export type Summary =
  | { status: "answered"; text: string }
  | { status: "failed"; kind: FailureKind | "unfinished" };

interface SummaryInput {
  /** The messages before the entries: the head of earlier compactions, or notes. */
  base: readonly Message[];
  entries: readonly Entry[];
  /** Whether base and entries have the bytes of earlier requests, so that the prompt cache is read. */
  asSent: boolean;
  /** Tokens by bytes that base and entries may have in one prompt. */
  room: number;
}

/** One call of the model with these messages. */
type Ask = (messages: readonly Message[], signal: AbortSignal) => Promise<Summary>;

const TASK: Message = { role: "user", content: [{ type: "text", text: SUMMARY_TASK }] };
/** One message may have at most this part of a prompt; it is cut there with a mark. */
const MESSAGE_SHARE = 1 / 2;

/**
 * Calls the model once for each part, at most `COMPACTION_PARTS` times. After a prompt that proves too
 * long the parts are half as large. Fails with the failure of a call.
 */
export async function summarise(
  { base, entries, asSent, room }: SummaryInput,
  ask: Ask,
  signal: AbortSignal,
): Promise<Summary> {
  if (entries.length === 0) return { status: "answered", text: "" };
  const messages = entries.map(({ message }) => message);
  const fits = messageTokens([...base, ...messages]) <= room;
  let before = base;
  let left = fits && asSent ? messages : shrunkMessages(entries);
  let most = room;
  let summary: Summary = { status: "failed", kind: "too_long" };
  for (let calls = 0; left.length > 0; calls += 1) {
    if (calls === COMPACTION_PARTS) return { status: "failed", kind: "too_long" };
    const { part, rest } =
      fits && calls === 0
        ? { part: left, rest: [] }
        : firstPart(left, most - messageTokens(before));
    summary = await ask([...before, ...part, TASK], signal);
    if (summary.status === "answered") {
      before = [boundaryMessage(summary.text, [])];
      left = rest;
    } else if (summary.kind === "too_long") {
      most = Math.floor(most / 2);
      // Only the first call may have sent the entries unshrunk, and it has used none of them up.
      if (calls === 0) left = shrunkMessages(entries);
    } else return summary;
  }
  return summary;
}

/** The messages without thinking, and without results that a call can produce again. */
function shrunkMessages(entries: readonly Entry[]): Message[] {
  const all = { results: entries.length, thinking: entries.length };
  return shrink(entries, all).flatMap(({ message }) => withoutThinking(message) ?? []);
}

/** As many of the oldest messages as fit, at least one step. No call loses its result. */
function firstPart(
  messages: readonly Message[],
  most: number,
): { part: Message[]; rest: Message[] } {
  const bounded = messages.map((message) =>
    withinBytes(message, most * MESSAGE_SHARE * BYTES_PER_TOKEN),
  );
  let tokens = 0;
  let end = bounded.length;
  for (const [at, message] of bounded.entries()) {
    tokens += messageTokens([message]);
    if (tokens > most && at > 0 && resultsOf(message).length === 0) {
      end = at;
      break;
    }
  }
  return { part: bounded.slice(0, end), rest: messages.slice(end) };
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
