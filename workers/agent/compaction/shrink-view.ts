// Steps 3 to 5 of the loop, in one batch: what can be had again is left out of what the model sees.

import { lastMessage } from "../../../src/platform/threads/entries.ts";
import { canonicalPaths, forgetSeen } from "../../../src/platform/threads/read-files.ts";
import { changeContext, readContext } from "../../../src/platform/threads/size.ts";
import {
  readViewed,
  readViewRow,
  sentMessages,
  show,
  writeView,
} from "../../../src/platform/threads/view.ts";
import type { ContextLimits } from "../../../src/shared/compaction/context-limits.ts";
import { filesCleared, shrinkable } from "../../../src/shared/compaction/shrink.ts";
import { messageTokens } from "../../../src/shared/compaction/size.ts";

interface ShrinkPorts {
  sql: SqlStorage;
  commit(write: () => void): void;
}

/** A shrinking that frees less of the room is not worth what it costs the prompt cache. */
const SHRINK_LEAST = 1 / 20;
/** The conversation grows by this part of the room before the same is tried again. */
const SHRINK_AGAIN = 3 / 20;

/** Leaves out old results and old thinking, in one batch; false where that frees too little. */
export function shrinkView(ports: ShrinkPorts, limits: ContextLimits, tokens: number): boolean {
  const { sql } = ports;
  const view = readViewRow(sql);
  const before = readViewed(sql);
  const messages = before.placed.map(({ message }) => message);
  const results = before.placed[shrinkable(messages) - 1]?.n ?? 0;
  const next = { ...view, results: Math.max(view.results, results), thinking: lastMessage(sql) };
  const after = show(next, before.placed);
  const freed = messageTokens(sentMessages(before)) - messageTokens(sentMessages(after));
  const { counted, ratio } = readContext(sql);
  const worth = freed >= limits.room * SHRINK_LEAST;
  const left = worth ? tokens - Math.floor(freed * ratio) : tokens;
  ports.commit(() => {
    changeContext(sql, { shrinkFrom: left + limits.room * SHRINK_AGAIN });
    if (!worth) return;
    writeView(sql, next);
    if (counted !== null) {
      changeContext(sql, { counted: Math.max(0, counted - Math.floor(freed * ratio)) });
    }
    forgetSeen(sql, canonicalPaths(filesCleared(sentMessages(before), sentMessages(after))));
  });
  return worth;
}
