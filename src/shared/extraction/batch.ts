// Which turns a session's next extraction looks at. Each turn that has ended carries a mark; the
// cursor stands behind the last turn that is settled, and only ever moves forward.

import { EXTRACTION_BATCH_MESSAGES } from "../limits/extraction.ts";
import type { LoopOutcome } from "../loop/steps.ts";

/**
 * `due`: ended with a final answer, so an extraction may start from it. `written`: the main agent wrote
 * to the memory itself, so nobody else does for this turn. `open`: ended otherwise; it is looked at
 * together with the turns around it.
 */
export type TurnMark = "due" | "written" | "open";

export interface MarkedTurn {
  n: number;
  mark: TurnMark;
  /** Messages that it has in the transcript, and their tokens by bytes. */
  messages: number;
  tokens?: number;
}

export interface Batch {
  /** Numbers of its first and last turn. */
  first: number;
  last: number;
}

export interface NextBatch {
  /** The cursor may move here at once: these turns need nobody. */
  settled: number | undefined;
  batch: Batch | undefined;
}

/**
 * The mark of a turn that ended so. A turn that wrote is `written` however it ended: what was said in
 * it was looked at by somebody who could save it.
 */
export function markOf(outcome: LoopOutcome | undefined, wrote: boolean): TurnMark {
  if (wrote) return "written";
  switch (outcome?.reason) {
    case "end_turn":
    case "stopped":
      return "due";
    default:
      return "open";
  }
}

/**
 * The oldest turns behind the cursor (`turns`, in order) that an extraction should look at, at most so
 * many messages and tokens, whole turns, at least one. A batch never spans a turn in which the main agent wrote:
 * skipping that one must not skip others. Open turns at the very end wait for a due one, unless
 * `final` says that none will come.
 */
export function nextBatch(
  turns: readonly MarkedTurn[],
  {
    final = false,
    messages: messagesMost = EXTRACTION_BATCH_MESSAGES,
    tokens: tokensMost = Number.POSITIVE_INFINITY,
  } = {},
): NextBatch {
  const start = turns.findIndex(({ mark }) => mark !== "written");
  const settled = (start < 0 ? turns : turns.slice(0, start)).at(-1)?.n;
  const [first, ...rest] = start < 0 ? [] : turns.slice(start);
  if (!first) return { settled, batch: undefined };

  let last = first.mark === "due" ? first.n : undefined;
  let end = first.n;
  let messages = first.messages;
  let tokens = first.tokens ?? 0;
  for (const turn of rest) {
    tokens += turn.tokens ?? 0;
    const over = messages + turn.messages > messagesMost || tokens > tokensMost;
    if (turn.mark === "written" || over) {
      return { settled, batch: { first: first.n, last: last ?? end } };
    }
    messages += turn.messages;
    end = turn.n;
    if (turn.mark === "due") last = turn.n;
  }
  if (final) last = end;
  return { settled, batch: last === undefined ? undefined : { first: first.n, last } };
}
