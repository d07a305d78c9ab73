// What a session's searches for memories found (one a turn at most, in its row), and what of it the
// conversation holds.

import * as z from "zod";
import type { Recalled } from "../../../src/shared/recall/recall.ts";
import { appendEvent } from "./events.ts";
import type { Turn } from "./turns.ts";

/** One of the tables of a session: memories put into the conversation since it was last compacted. */
export const SHOWN_TABLE = `CREATE TABLE IF NOT EXISTS shown (
    path TEXT PRIMARY KEY, turn INTEGER NOT NULL, bytes INTEGER NOT NULL) WITHOUT ROWID`;

/** Whether the search of a turn is over. */
export function hasRecall(sql: SqlStorage, turn: number): boolean {
  return (
    sql.exec("SELECT 1 FROM turns WHERE n = ? AND recall IS NOT NULL", turn).toArray().length > 0
  );
}

/** What is kept of a search. */
export type RecallRecord = Pick<Recalled, "explanation" | "candidates" | "shown">;

/**
 * Records what a search came to, and tells it where there was anything to choose from. Within the
 * transaction that puts its attachment into the transcript.
 */
export function recordRecall(
  sql: SqlStorage,
  turn: Turn,
  recalled: RecallRecord,
  now: number,
): void {
  const { explanation, candidates, shown } = recalled;
  const body = { turn_id: turn.eventId, ...explanation, candidates };
  sql.exec(
    "UPDATE turns SET recalled_at = ?, recall = ? WHERE n = ? AND recall IS NULL",
    now,
    JSON.stringify(body),
    turn.n,
  );
  for (const { path, bytes } of shown) {
    sql.exec(
      "INSERT OR REPLACE INTO shown (path, turn, bytes) VALUES (?, ?, ?)",
      path,
      turn.n,
      bytes,
    );
  }
  const nothing = candidates.length === 0 && explanation.dropped.length === 0;
  if (nothing && explanation.fallback === undefined) return;
  appendEvent(sql, { type: "memory.recalled", turn_id: turn.eventId, ...explanation }, now);
}

/** The memories that the conversation holds, with their bytes. */
export function readShown(sql: SqlStorage): Map<string, number> {
  const rows = sql.exec<{ path: string; bytes: number }>("SELECT path, bytes FROM shown");
  return new Map([...rows].map(({ path, bytes }) => [path, bytes]));
}

/**
 * A compaction has taken the attachments of all turns before this one out of the conversation: those
 * memories may come again, and their bytes count no more. Within the transaction of its boundary.
 */
export function forgetShown(sql: SqlStorage, beforeTurn: number): void {
  sql.exec("DELETE FROM shown WHERE turn < ?", beforeTurn);
}

/** Searches in the order of their turns, after one. */
export function listRecalls(
  sql: SqlStorage,
  query: { after: number; limit: number },
): { turn: number; body: Record<string, unknown> }[] {
  const rows = sql.exec<{ turn: number; at: number; body: string }>(
    `SELECT n AS turn, recalled_at AS at, recall AS body FROM turns
     WHERE n > ? AND recall IS NOT NULL ORDER BY n LIMIT ?`,
    query.after,
    query.limit,
  );
  return [...rows].map(({ turn, at, body }) => ({
    turn,
    body: {
      at: new Date(at).toISOString(),
      ...z.record(z.string(), z.unknown()).parse(JSON.parse(body)),
    },
  }));
}
