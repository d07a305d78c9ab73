// When the search of a turn begins by itself: beside the model's answer, and not beside its first byte,
// for which many sessions may be waiting in one process.

import { RECALL_BEGIN_MS, RECALL_LATEST_MS } from "../../../src/shared/limits/recall.ts";

export interface SearchStart {
  /** The model was asked. */
  asked(): void;
  /** The model speaks. */
  speaks(): void;
  stop(): void;
}

/**
 * Calls `begin` when the model speaks, `RECALL_BEGIN_MS` after it was asked at the earliest and
 * `RECALL_LATEST_MS` after it at the latest. Only the first request counts.
 */
export function searchStart(begin: () => void): SearchStart {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let ripe = false;
  let spoken = false;
  const ripen = () => {
    ripe = true;
    if (spoken) begin();
    else timer = setTimeout(begin, RECALL_LATEST_MS - RECALL_BEGIN_MS);
  };
  return {
    asked() {
      timer ??= setTimeout(ripen, RECALL_BEGIN_MS);
    },
    speaks() {
      if (spoken) return;
      spoken = true;
      if (!ripe) return;
      clearTimeout(timer);
      begin();
    },
    stop: () => clearTimeout(timer),
  };
}
