// Which of the newest entries a compaction keeps as they are, so that no call loses its result.

import type { Entry } from "../thread/entry.ts";
import { resultsOf } from "../thread/shrink.ts";
import { messageTokens } from "./size.ts";

export interface Tail {
  /** Number of the last entry that is left out; 0 where all stay. */
  cut: number;
  /** What the user said in the turn that is cut in two: it stays, word for word, before what is kept. */
  carried: Entry[];
  kept: Entry[];
}

/**
 * The newest entries that have no more than `keep` tokens, at least the last step whole. With `known`
 * all entries after that number are among them. A tail begins with the user's words or with an answer
 * whose results follow, never with a result. `head`: what an earlier compaction left of the same turn.
 */
export function tailOf(
  entries: readonly Entry[],
  keep: number,
  { known, head = [] }: { known?: number | undefined; head?: readonly Entry[] } = {},
): Tail {
  let from = entries.length;
  let tokens = 0;
  for (let at = entries.length - 1; at >= 0; at -= 1) {
    const entry = entries[at];
    if (!entry) break;
    tokens += messageTokens([entry.message]);
    const needed = known !== undefined && entry.n > known;
    if (tokens > keep && from < entries.length && !needed) break;
    if (resultsOf(entry.message).length === 0) from = at;
  }
  const kept = entries.slice(from);
  const left = entries.slice(0, from);
  const turn = kept[0]?.turn;
  const said = ({ turn: own, origin }: Entry) => own === turn && origin.type === "user";
  const carried = left.filter(said);
  return {
    cut: left.at(-1)?.n ?? 0,
    carried: [...newest(head.filter(said), keep), ...carried],
    kept,
  };
}

/** As many of the newest as fit: what was carried once is told by the summary too. */
function newest(entries: readonly Entry[], tokens: number): Entry[] {
  let left = tokens;
  const from = entries.findLastIndex((entry) => {
    left -= messageTokens([entry.message]);
    return left < 0;
  });
  return entries.slice(from + 1);
}
