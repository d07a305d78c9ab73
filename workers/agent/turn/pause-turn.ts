// A turn that waits for answers: its row says until when, which is what the alarm goes by, and the
// client is told which events it has to answer.

import { appendEvent } from "../rows/events.ts";
import { changeTimes, readMeta } from "../rows/meta.ts";
import { openActions, stopActions } from "../rows/pending-actions.ts";
import type { Turn } from "../rows/turns.ts";
import { changeTurn, currentTurn, turnByNumber } from "../rows/turns.ts";

/** Whether a turn is paused until somebody answers. */
export function isPaused(sql: SqlStorage, turn: Turn | undefined): boolean {
  if (turn?.status !== "running" || turn.resumeAt === undefined || turn.interrupted) return false;
  return openActions(sql, turn.n).eventIds.length > 0;
}

/**
 * The turn has nothing to do until somebody answers. Where the last answer came in just now it goes on
 * at once, without an event; where nobody can answer any more it ends. Within a
 * transaction.
 */
export function pauseTurn(sql: SqlStorage, turn: Turn, now: number): void {
  const meta = readMeta(sql);
  if (meta.archivedAt !== null) {
    interruptTurn(sql, now);
    return;
  }
  if (!stayPaused(sql, turn, now)) return;
  addActiveTime(sql, turn, now);
  changeTurn(sql, turn.n, { startedAt: undefined });
}

/** A turn stops running, for now or for good. Within a transaction. */
export function addActiveTime(sql: SqlStorage, { startedAt }: Turn, now: number): void {
  if (startedAt === undefined) return;
  changeTimes(sql, { activeMs: readMeta(sql).activeMs + now - startedAt });
}

/**
 * The turn that runs, or is paused, is to end. `begun`: the turn that this instance has just begun, whose
 * row may still say that it is queued. Within a transaction.
 */
export function interruptTurn(sql: SqlStorage, now: number, begun?: number): void {
  const turn = currentTurn(sql);
  if (!turn || (turn.status !== "running" && turn.n !== begun)) return;
  const resumeAt = turn.resumeAt === undefined ? undefined : now;
  changeTurn(sql, turn.n, { interrupted: true, resumeAt });
  stopActions(sql, turn.n);
}

/** An answer of a turn is on disk: a paused one goes on after the last. Within a transaction. */
export function answered(sql: SqlStorage, n: number, now: number): void {
  const turn = turnByNumber(sql, n);
  if (turn.resumeAt === undefined) return;
  if (!stayPaused(sql, turn, now)) changeTurn(sql, n, { resumeAt: now });
}

/** False where nothing is open. */
function stayPaused(sql: SqlStorage, turn: Turn, now: number): boolean {
  const { eventIds, until } = openActions(sql, turn.n);
  if (until === undefined) return false;
  changeTurn(sql, turn.n, { resumeAt: until });
  appendEvent(
    sql,
    {
      type: "session.status_idle",
      turn_id: turn.eventId,
      stop_reason: { type: "requires_action", event_ids: eventIds },
      stop_details: null,
    },
    now,
  );
  return true;
}
