// Which of the newest messages a compaction keeps as they are, so that no call loses its result.

import type { Message } from "../loop/messages.ts";
import { messageTokens } from "./size.ts";

/** A message and where it stands in the transcript. */
export interface Placed {
  n: number;
  turn: number;
  message: Message;
}

export interface Tail {
  /** Number of the last message that is left out; 0 where all stay. */
  cut: number;
  /** What the user said in the turn that is cut in two: it stays, word for word, before what is kept. */
  carried: Message[];
  kept: Placed[];
}

/**
 * The newest messages that have no more than `keep` tokens, at least the last step whole. With `known`
 * all messages behind that number are among them. A tail begins with the user's words or with an
 * answer whose results follow, never with a result.
 */
export function tailOf(placed: readonly Placed[], keep: number, known?: number): Tail {
  let from = placed.length;
  let tokens = 0;
  for (let at = placed.length - 1; at >= 0; at -= 1) {
    const each = placed[at];
    if (!each) break;
    tokens += messageTokens([each.message]);
    const needed = known !== undefined && each.n > known;
    if (tokens > keep && from < placed.length && !needed) break;
    if (!holdsResult(each.message)) from = at;
  }
  const kept = placed.slice(from);
  const left = placed.slice(0, from);
  const turn = kept[0]?.turn;
  const carried = left.flatMap((each) =>
    each.turn === turn && isSaid(each.message) ? [each] : [],
  );
  return { cut: left.at(-1)?.n ?? 0, carried: carried.map(({ message }) => message), kept };
}

/** Whether this is what the user said: text, and not a reminder of ours. */
export function isSaid(message: Message): boolean {
  return (
    message.role === "user" &&
    message.content.some(
      (block) => block.type === "text" && !block.text.startsWith("<system-reminder>"),
    ) &&
    !holdsResult(message)
  );
}

/** Whether a message answers calls: it stands right behind them. */
export function holdsResult(message: Message): boolean {
  return message.content.some((block) => block.type === "tool_result");
}
