// What a session's searches for memories found (one a turn at most, in its row), and what of it the
// conversation holds.

import * as z from "zod";
import { defineState } from "../../../src/platform/state.ts";
import type { Recalled } from "../../../src/shared/recall/recall.ts";
import { appendEvent } from "./events.ts";
import type { Turn } from "./turns.ts";

/** One of the tables of a session: memories put into the conversation since it was last compacted. */
export const SHOWN_TABLE = `CREATE TABLE IF NOT EXISTS shown_memories (
    memory TEXT PRIMARY KEY, turn INTEGER NOT NULL, bytes INTEGER NOT NULL) WITHOUT ROWID`;

/** Whether the search of a turn is over. */
export function hasRecall(sql: SqlStorage, turn: number): boolean {
  return (
    sql.exec("SELECT 1 FROM turns WHERE n = ? AND recall IS NOT NULL", turn).toArray().length > 0
  );
}

/** What is kept of a search. */
export type RecallRecord = Pick<Recalled, "explanation" | "candidates" | "shown" | "worthKeeping">;

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
  const { explanation, candidates, shown, worthKeeping } = recalled;
  const offered = offeredBefore(sql, candidates) ?? { candidates };
  const worth = { worth_keeping: worthKeeping };
  const body = { turn_id: turn.eventId, ...explanation, ...worth, ...offered };
  if ("candidates" in offered) lastOffer.write(sql, turn.n);
  sql.exec(
    "UPDATE turns SET recalled_at = ?, recall = ? WHERE n = ? AND recall IS NULL",
    now,
    JSON.stringify(body),
    turn.n,
  );
  for (const { id, bytes } of shown) {
    sql.exec(
      "INSERT OR REPLACE INTO shown_memories (memory, turn, bytes) VALUES (?, ?, ?)",
      id,
      turn.n,
      bytes,
    );
  }
  const nothing = candidates.length === 0 && explanation.dropped.length === 0;
  if (nothing && explanation.fallback === undefined) return;
  appendEvent(sql, { type: "memory.recalled", turn_id: turn.eventId, ...explanation }, now);
}

/** The newest turn whose search has its list of candidates: most later ones have the same. */
const lastOffer = defineState("offer", z.number(), 0);
const offerSchema = z.object({ candidates: z.array(z.string()) });

/** The turn that has this very list; undefined where it is another one than the last. */
function offeredBefore(
  sql: SqlStorage,
  candidates: readonly string[],
): { candidates_of: number } | undefined {
  const turn = lastOffer.read(sql);
  const last = candidatesOf(sql, turn);
  const same = last.length === candidates.length && last.every((path, n) => path === candidates[n]);
  return turn > 0 && same ? { candidates_of: turn } : undefined;
}

function candidatesOf(sql: SqlStorage, turn: number): string[] {
  const [row] = sql
    .exec<{ recall: string | null }>("SELECT recall FROM turns WHERE n = ?", turn)
    .toArray();
  return offerSchema.safeParse(JSON.parse(row?.recall ?? "{}")).data?.candidates ?? [];
}

/** Ids of the memories that the conversation holds, with their bytes. */
export function readShown(sql: SqlStorage): Map<string, number> {
  const rows = sql.exec<{ memory: string; bytes: number }>(
    "SELECT memory, bytes FROM shown_memories",
  );
  return new Map([...rows].map(({ memory, bytes }) => [memory, bytes]));
}

/** Whether the search of a turn says that its message states nothing that could matter later. */
export function statesNothing(sql: SqlStorage, turn: number): boolean {
  const [row] = sql
    .exec<{ worth: number | null }>(
      "SELECT json_extract(recall, '$.worth_keeping') AS worth FROM turns WHERE n = ?",
      turn,
    )
    .toArray();
  return row?.worth === 0;
}

/**
 * A compaction has taken the attachments of all turns before this one out of the conversation: those
 * memories may come again, and their bytes count no more. Within the transaction of its boundary.
 */
export function forgetShown(sql: SqlStorage, beforeTurn: number): void {
  sql.exec("DELETE FROM shown_memories WHERE turn < ?", beforeTurn);
}

const keptSchema = z.looseObject({ candidates_of: z.number().optional() });

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
  return rows.toArray().map(({ turn, at, body }) => {
    const { candidates_of, ...kept } = keptSchema.parse(JSON.parse(body));
    const offered =
      candidates_of === undefined ? {} : { candidates: candidatesOf(sql, candidates_of) };
    return { turn, body: { at: new Date(at).toISOString(), ...kept, ...offered } };
  });
}
