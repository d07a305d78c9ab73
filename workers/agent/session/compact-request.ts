// A compaction that somebody asked for: at once where nothing runs, else at the running turn's next
// step. That it was asked for is on disk, so a crash does not forget it.

import { changeSize, readSize } from "../../../src/platform/threads/size.ts";
import { STEP_DEATHS } from "../../../src/shared/limits/turn.ts";
import { compactNow, sizeOf } from "../compaction/compaction.ts";
import { compactionError } from "../contract/session-errors.ts";
import { appendEvent, lastSeq, readEvents } from "../rows/events.ts";
import { mainThread } from "../rows/session-threads.ts";
import { currentTurn, lastTurn } from "../rows/turns.ts";
import type { TurnRef } from "../setup/conversation.ts";
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
    const begun = readSize(thread).begun + 1;
    session.commit(() => changeSize(thread, { begun }));
    if (begun > STEP_DEATHS) {
      reportFailure(session, turn);
      return;
    }
    const of = { ...(await openConversation(session)), turn };
    const tokens = await sizeOf(session, of, of.limits.room, signal);
    await compactNow(session, of, "manual", tokens, signal);
  } finally {
    session.commit(() => changeSize(thread, { requested: false, begun: 0 }));
  }
}

/** The process died with each of them. */
function reportFailure({ sql, commit, now }: SessionContext, turn: TurnRef): void {
  const error = compactionError("the service broke down");
  commit(() => appendEvent(sql, { type: "session.error", error, turn_id: turn.eventId }, now()));
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
