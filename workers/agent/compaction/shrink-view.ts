// Steps 3 to 5 of the loop, in one batch: what can be had again is left out of what the model sees.

import { lastEntry, readEntries } from "../../../src/platform/threads/entries.ts";
import { canonicalPaths, forgetRead } from "../../../src/platform/threads/read-files.ts";
import { changeSize, readSize } from "../../../src/platform/threads/size.ts";
import { readShown, readView, writeView } from "../../../src/platform/threads/view.ts";
import { clearedFiles, shrinkable } from "../../../src/shared/compaction/shrinkable.ts";
import { messageTokens } from "../../../src/shared/compaction/size.ts";
import { sentMessages, show } from "../../../src/shared/thread/view.ts";
import type { Conversation } from "../setup/conversation.ts";
import type { SessionContext } from "../setup/session-context.ts";

/** A shrinking that frees less of the room is not worth what it costs the prompt cache. */
const SHRINK_LEAST = 1 / 20;
/** The conversation grows by this part of the room before the same is tried again. */
const SHRINK_AGAIN = 3 / 20;

/** Leaves out old results and old thinking, in one batch; false where that frees too little. */
export function shrinkView(
  { commit }: Pick<SessionContext, "commit">,
  { thread, limits }: Conversation,
  tokens: number,
): boolean {
  const view = readView(thread);
  const before = readShown(thread);
  const newest = before.tail[shrinkable(before.tail) - 1];
  const results = Math.max(view.results, newest?.n ?? 0);
  const next = { ...view, results, thinking: lastEntry(thread) };
  const after = show(next, before.tail);
  const freed = messageTokens(sentMessages(before)) - messageTokens(sentMessages(after));
  const { counted, ratio } = readSize(thread);
  const worth = freed >= limits.room * SHRINK_LEAST;
  const left = worth ? tokens - Math.floor(freed * ratio) : tokens;
  commit(() => {
    changeSize(thread, { shrinkFrom: left + limits.room * SHRINK_AGAIN });
    if (!worth) return;
    writeView(thread, next);
    if (counted !== null) {
      changeSize(thread, { counted: Math.max(0, counted - Math.floor(freed * ratio)) });
    }
    const entries = readEntries(thread, { after: view.cut });
    const shrunk = entries.filter(({ n }) => n <= results).length;
    forgetRead(thread, canonicalPaths(clearedFiles(entries, shrunk)));
  });
  return worth;
}
