// Which of the newest entries a compaction keeps as they are. No call loses its result.

import type { Entry } from "../thread/entry.ts";
import { resultsOf } from "../thread/shrink.ts";
import { messageTokens } from "./size.ts";

export interface Tail {
  /** Number of the last entry that is left out; 0 if all stay. */
  cut: number;
  /** The user's messages of the turn that is cut in two, and their days; they stay, unchanged, before `kept`. */
  carried: Entry[];
  kept: Entry[];
}

/**
 * The newest entries with together at most `keep` tokens, at least the whole last step. All entries
 * after the number `known` are among them. A tail begins with a user message or with an answer, never
 * with a result. `head`: the head of the earlier compaction, which may contain messages of this turn.
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
  const isOfUser = ({ turn: own, origin }: Entry) =>
    own === turn && (origin.type === "user" || origin.type === "day");
  const carried = left.filter(isOfUser);
  return {
    cut: left.at(-1)?.n ?? 0,
    carried: [...newest(head.filter(isOfUser), keep), ...carried],
    kept,
  };
}

/** As many of the newest entries as fit; the summary covers the others. */
function newest(entries: readonly Entry[], tokens: number): Entry[] {
  let left = tokens;
  const from = entries.findLastIndex((entry) => {
    left -= messageTokens([entry.message]);
    return left < 0;
  });
  return entries.slice(from + 1);
}
