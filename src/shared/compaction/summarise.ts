// A summary of what is to be cut. Where that is more than one prompt can hold it is told in parts, each
// behind the summary of those before it: nothing is left out because there was too much of it.

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

export interface ToSummarise {
  /** What stands before the entries: the head of earlier compactions, or notes. */
  base: readonly Message[];
  entries: readonly Entry[];
  /** Whether base and entries are the bytes that the model was sent: then its cache is read. */
  asSent: boolean;
  /** Tokens, by their bytes, that base and entries of one prompt may have. */
  room: number;
}

/** One call of the model over these messages. */
type Ask = (messages: readonly Message[], signal: AbortSignal) => Promise<Summary>;

const TASK: Message = { role: "user", content: [{ type: "text", text: SUMMARY_TASK }] };
/** One message takes at most this part of a prompt; the rest of it is left out with a mark. */
const MESSAGE_SHARE = 1 / 2;

/**
 * Asks as often as there are parts, at most a fixed number of times in all. A prompt that proves too
 * long after all is halved. Fails with what a call fails with.
 */
export async function summarise(
  { base, entries, asSent, room }: ToSummarise,
  ask: Ask,
  signal: AbortSignal,
): Promise<Summary> {
  if (entries.length === 0) return { status: "answered", text: "" };
  const messages = entries.map(({ message }) => message);
  const whole = messageTokens([...base, ...messages]) <= room;
  let before = base;
  let left = whole && asSent ? messages : plain(entries);
  let most = room;
  let said: Summary = { status: "failed", kind: "too_long" };
  for (let asked = 0; left.length > 0; asked += 1) {
    if (asked === COMPACTION_PARTS) return { status: "failed", kind: "too_long" };
    const { part, rest } =
      whole && asked === 0
        ? { part: left, rest: [] }
        : firstPart(left, most - messageTokens(before));
    said = await ask([...before, ...part, TASK], signal);
    if (said.status === "answered") {
      before = [boundaryMessage(said.text, [])];
      left = rest;
    } else if (said.kind === "too_long") {
      most = Math.floor(most / 2);
      // Nothing was taken from it yet where it may still be as it was sent.
      if (asked === 0) left = plain(entries);
    } else return said;
  }
  return said;
}

/** Without what is bound to what stood before, and without results that can be had again. */
function plain(entries: readonly Entry[]): Message[] {
  const all = { results: entries.length, thinking: entries.length };
  return shrink(entries, all).flatMap(({ message }) => withoutThinking(message) ?? []);
}

/** As many of the oldest messages as fit, at least one step; no call loses its result. */
function firstPart(
  messages: readonly Message[],
  most: number,
): { part: Message[]; rest: Message[] } {
  const held = messages.map((message) =>
    withinBytes(message, most * MESSAGE_SHARE * BYTES_PER_TOKEN),
  );
  let tokens = 0;
  let end = held.length;
  for (const [at, message] of held.entries()) {
    tokens += messageTokens([message]);
    if (tokens > most && at > 0 && resultsOf(message).length === 0) {
      end = at;
      break;
    }
  }
  return { part: held.slice(0, end), rest: messages.slice(end) };
}

/** A message whose texts and results together have at most so many bytes. */
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
