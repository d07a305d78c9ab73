// How far a shrinking may go, and what it takes out of the conversation. One batch at a time, since
// each costs the prompt cache all that stands after the first change.

import type { Entry } from "../thread/entry.ts";
import { toolCallsOf } from "../thread/messages.ts";
import { clearedCalls, resultsOf } from "../thread/shrink.ts";

/** The newest results that stay: the model is at work with them. */
const RESULTS_KEPT = 5;

/**
 * Of how many of the oldest entries the results may go: all up to the newest ones, which stay. Those
 * of the newest answer are all among them: the model may not have seen them yet.
 */
export function shrinkable(entries: readonly Entry[]): number {
  let kept = 0;
  for (let at = entries.length - 1; at >= 0; at -= 1) {
    const entry = entries[at];
    const results = entry ? resultsOf(entry.message).length : 0;
    if (results > 0 && kept > 0 && kept + results > RESULTS_KEPT) return at + 1;
    kept += results;
  }
  return 0;
}

/**
 * The files whose content is shown no more where the results of so many of the oldest entries are
 * cleared: paths as they were read.
 */
export function filesCleared(entries: readonly Entry[], results: number): string[] {
  const cleared = clearedCalls(entries, results);
  const answered = new Set(
    entries.flatMap(({ message }) => resultsOf(message).map((block) => block.tool_use_id)),
  );
  const reads = entries.flatMap(({ message }) =>
    toolCallsOf(message).flatMap(({ id, name, input }) =>
      name === "Read" && typeof input.file_path === "string"
        ? [{ path: input.file_path, shown: answered.has(id) && !cleared.has(id) }]
        : [],
    ),
  );
  const still = new Set(reads.flatMap(({ path, shown }) => (shown ? [path] : [])));
  return [...new Set(reads.map(({ path }) => path))].filter((path) => !still.has(path));
}
