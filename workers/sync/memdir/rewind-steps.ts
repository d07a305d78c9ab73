// A rewind as it is on disk: who goes back where, and its steps, each with what it made.

import type { Actor } from "../../../src/platform/objects/memdir-rpc.ts";
import type { Receipt } from "../../../src/shared/files/receipt.ts";
import type { Directory } from "./directory.ts";
import type { RewindTo, Step } from "./rewind-plan.ts";
import { actorOf, lastMadeBy, receiptOf } from "./versions.ts";

/** Who goes back, and the newest version of before. */
export interface Rewind {
  actor: Actor;
  since: number;
}

export type LeftStep = {
  n: number;
  memory_id: string;
  path: string;
  /** Where it is to be and with what; null for gone. */
  target: string | null;
  sha256: string | null;
  aside: number;
};

/** The rewind of which something is left to do, if there is one. */
export function rewindUnderWay(sql: SqlStorage): Rewind | undefined {
  const [row] = sql
    .exec<{ actor: string; since: number }>(
      `SELECT actor, since FROM rewinds
       WHERE EXISTS (SELECT 1 FROM rewind_steps WHERE done = 0)`,
    )
    .toArray();
  return row && { actor: actorOf(row.actor), since: row.since };
}

/** Whether the rewind on disk is this one, and nobody was told yet what it changed. */
export function isUnanswered(sql: SqlStorage, to: RewindTo, actor: Actor): boolean {
  const rows = sql.exec(
    "SELECT 1 FROM rewinds WHERE target = ? AND actor = ?",
    JSON.stringify(to),
    JSON.stringify(actor),
  );
  return rows.toArray().length > 0;
}

/** Stores a new rewind in place of an older one. */
export function begin(sql: SqlStorage, to: RewindTo, actor: Actor): void {
  forget(sql);
  sql.exec(
    `INSERT INTO rewinds (id, actor, target, since)
     VALUES (1, ?, ?, (SELECT coalesce(max(n), 0) FROM versions))`,
    JSON.stringify(actor),
    JSON.stringify(to),
  );
}

/** Whoever asked has the answer now. */
export function forget(sql: SqlStorage): void {
  sql.exec("DELETE FROM rewinds");
  sql.exec("DELETE FROM rewind_steps");
}

/** Adds steps to the rewind. */
export function recordSteps(sql: SqlStorage, planned: readonly Step[]): void {
  for (const { memoryId, path, target, aside } of planned) {
    sql.exec(
      "INSERT INTO rewind_steps (memory_id, path, target, aside) VALUES (?, ?, ?, ?)",
      memoryId,
      path,
      target?.n ?? null,
      aside ? 1 : 0,
    );
  }
}

/** The steps that are left, in their order, one at a time: rows change while this runs. */
export function* stepsLeft(sql: SqlStorage, which: string): Generator<LeftStep> {
  for (let after = 0; ; ) {
    const [row] = sql
      .exec<LeftStep>(
        `SELECT s.n, s.memory_id, s.path, v.path AS target, v.sha256, s.aside
         FROM rewind_steps AS s LEFT JOIN versions AS v ON v.n = s.target
         WHERE s.n > ? AND s.done = 0 AND (${which}) ORDER BY s.n LIMIT 1`,
        after,
      )
      .toArray();
    if (!row) return;
    yield row;
    after = row.n;
  }
}

/**
 * A step is done, and what it made is what `by` made of this memory since: also where a crash came
 * between the change and this. Its path goes: a redaction would not find it here.
 */
export function markDone(
  { sql, commit }: Directory,
  { n, memory_id }: LeftStep,
  by: Rewind | undefined,
): void {
  const made = by ? lastMadeBy(sql, memory_id, by.actor, by.since) : null;
  commit(() =>
    sql.exec("UPDATE rewind_steps SET done = 1, made = ?, path = '' WHERE n = ?", made, n),
  );
}

/** What all steps made, a receipt a memory, in the order of the history. */
export function changedBySteps(sql: SqlStorage): Receipt[] {
  const rows = sql.exec<{ n: number }>(
    `SELECT max(made) AS n FROM rewind_steps WHERE made IS NOT NULL
     GROUP BY memory_id ORDER BY n`,
  );
  return [...rows].flatMap(({ n }) => receiptOf(sql, n) ?? []);
}
