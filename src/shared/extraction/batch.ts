// Which turns the next extraction of a session looks at. Each turn that has ended has a mark. The cursor
// is the number of the last turn that needs no extraction any more; it only grows.

import { EXTRACTION_BATCH_MESSAGES } from "../limits/extraction.ts";
import type { LoopOutcome } from "../loop/steps.ts";

/**
 * `due`: the turn ended with a final answer, so an extraction may follow it. `written`: the main agent
 * wrote to the memory itself, so no extraction does. `open`: the turn ended otherwise; an extraction
 * looks at it together with the turns around it. `quiet`: it ended with a final answer and its user
 * stated nothing that could matter later, so it asks for no extraction by itself.
 */
export type TurnMark = "due" | "written" | "open" | "quiet";

export interface MarkedTurn {
  n: number;
  mark: TurnMark;
  /** Its messages in the transcript, and their tokens by bytes. */
  messages: number;
  tokens?: number | undefined;
}

export interface Batch {
  /** Numbers of the first and last turn. */
  first: number;
  last: number;
}

export interface NextBatch {
  /** The cursor may move here at once: the turns up to it need no extraction. */
  cursor: number | undefined;
  batch: Batch | undefined;
}

/**
 * The mark of a turn with this outcome. A turn that wrote is `written` whatever its outcome: the main
 * agent saw its messages and could save them. `statesNothing`: it is known that its user said nothing
 * that could matter later.
 */
export function markOf(
  outcome: LoopOutcome | undefined,
  wrote: boolean,
  statesNothing = false,
): TurnMark {
  if (wrote) return "written";
  switch (outcome?.reason) {
    case "end_turn":
    case "stopped":
      return statesNothing ? "quiet" : "due";
    default:
      return "open";
  }
}

/**
 * The oldest of the turns after the cursor (`turns`, in order) that an extraction should look at: whole
 * turns, at least one, with at most so many messages and tokens. A batch never spans a `written` turn,
 * so that skipping that one skips no other but quiet ones just before it. Open and quiet turns at the end
 * need a due one after them, unless `final` says that none will come.
 */
export function nextBatch(
  turns: readonly MarkedTurn[],
  {
    final = false,
    messages: messagesMost = EXTRACTION_BATCH_MESSAGES,
    tokens: tokensMost = Number.POSITIVE_INFINITY,
  } = {},
): NextBatch {
  const unseen = turns.findIndex(({ mark }) => mark !== "written" && mark !== "quiet");
  const passed = turns.slice(0, unseen < 0 ? turns.length : unseen);
  const start = passed.findLastIndex(({ mark }) => mark === "written") + 1;
  const cursor = turns[start - 1]?.n;
  const [first, ...rest] = turns.slice(start);
  if (!first) return { cursor, batch: undefined };

  let last = first.mark === "due" ? first.n : undefined;
  let end = first.n;
  let messages = first.messages;
  let tokens = first.tokens ?? 0;
  for (const turn of rest) {
    tokens += turn.tokens ?? 0;
    const over = messages + turn.messages > messagesMost || tokens > tokensMost;
    if (turn.mark === "written" || over) {
      return { cursor, batch: { first: first.n, last: last ?? end } };
    }
    messages += turn.messages;
    end = turn.n;
    if (turn.mark === "due") last = turn.n;
  }
  if (final) last = end;
  return { cursor, batch: last === undefined ? undefined : { first: first.n, last } };
}
