// A compaction that somebody asked for: at once where nothing runs, else at the running turn's next
// step. That it was asked for is on disk, so a crash does not forget it.

import { changeSize, readSize } from "../../../src/platform/threads/size.ts";
import { compactNow, sizeOf } from "../compaction/compaction.ts";
import { lastSeq, readEvents } from "../rows/events.ts";
import { mainThread } from "../rows/session-threads.ts";
import { currentTurn, lastTurn } from "../rows/turns.ts";
import { openConversation } from "../setup/conversation.ts";
import type { SessionContext } from "../setup/session-context.ts";

/** Whether a compaction was asked for and no turn is there to do it. */
export function compactionDue(sql: SqlStorage): boolean {
  return readSize(mainThread(sql)).requested && currentTurn(sql) === undefined;
}

/** Compacts the conversation of a session whose turns have all ended. The request is done with then. */
export async function compactIdle(session: SessionContext, signal: AbortSignal): Promise<void> {
  const { sql } = session;
  const thread = mainThread(sql);
  try {
    const turn = lastTurn(sql);
    if (!turn) return;
    const of = { ...(await openConversation(session)), turn };
    const tokens = await sizeOf(session, of, of.limits.room, signal);
    await compactNow(session, of, "manual", tokens, signal);
  } finally {
    session.commit(() => changeSize(thread, { requested: false }));
  }
}

/** By the type of the event that came of it. */
const STATUS: Record<string, string> = {
  "session.error": "failed",
  "user.interrupt": "interrupted",
};

/** What came of a request, by the events after a number. */
export function compactionReply(sql: SqlStorage, after: number): Record<string, unknown> {
  if (readSize(mainThread(sql)).requested) return { type: "session_compaction", status: "queued" };
  const [event] = readEvents(sql, {
    after,
    limit: 1,
    types: ["agent.thread_context_compacted", "session.error", "user.interrupt"],
  });
  if (!event) return { type: "session_compaction", status: "nothing_to_compact" };
  const status = STATUS[event.type] ?? "compacted";
  return { type: "session_compaction", status, event: JSON.parse(event.json) };
}

/** Notes that somebody asked for a compaction; gives the number after which its event will come. */
export function requestCompaction(sql: SqlStorage): number {
  changeSize(mainThread(sql), { requested: true });
  return lastSeq(sql);
}
