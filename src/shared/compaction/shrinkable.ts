// How far a shrinking may go, and what it removes from the conversation. It is done in batches: each
// one invalidates the prompt cache after the first change.

import type { Entry } from "../thread/entry.ts";
import { toolCallsOf } from "../thread/messages.ts";
import { clearedCalls, resultsOf } from "../thread/shrink.ts";

/** The newest results that stay: the model is working with them. */
const RESULTS_KEPT = 5;

/**
 * The number of the oldest entries whose results may be cleared: all but the newest results. All
 * results of the newest answer stay, since the model may not have seen them yet.
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
 * The files whose content is no longer shown if the results of so many of the oldest entries are
 * cleared: paths as they were read.
 */
export function clearedFiles(entries: readonly Entry[], results: number): string[] {
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
  const stillShown = new Set(reads.flatMap(({ path, shown }) => (shown ? [path] : [])));
  return [...new Set(reads.map(({ path }) => path))].filter((path) => !stillShown.has(path));
}
