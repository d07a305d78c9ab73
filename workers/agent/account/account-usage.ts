// The account's side of the cost account: what each session reports of its model requests. A report
// holds totals, not increments, so it may come twice, late or in any order.

import { utcDay } from "../../../src/platform/budget.ts";
import type {
  UsageQuery,
  UsageRow,
  UsageTotal,
} from "../../../src/platform/objects/account-rpc.ts";
import { conditions } from "../../../src/platform/sql.ts";

/** How long a day is kept, in milliseconds: 400 days, so that a month can be held against last year's. */
const KEPT_MS = 400 * 24 * 60 * 60 * 1000;

export function createUsageTable(sql: SqlStorage): void {
  sql.exec(
    `CREATE TABLE IF NOT EXISTS usage (
       session TEXT NOT NULL, day TEXT NOT NULL, purpose TEXT NOT NULL, model TEXT NOT NULL,
       requests INTEGER NOT NULL, input INTEGER NOT NULL, cache_read INTEGER NOT NULL,
       cache_creation INTEGER NOT NULL, output INTEGER NOT NULL,
       PRIMARY KEY (session, day, purpose, model))`,
  );
  sql.exec("CREATE INDEX IF NOT EXISTS usage_by_day ON usage (day)");
}

/**
 * Takes a session's totals and drops days that are too old. The requests of a row grow with every
 * change: of two reports the one with more is the later one. Within a transaction.
 */
export function reportUsage(
  sql: SqlStorage,
  sessionId: string,
  rows: readonly UsageRow[],
  now: number,
): void {
  for (const row of rows) {
    sql.exec(
      `INSERT INTO usage
         (session, day, purpose, model, requests, input, cache_read, cache_creation, output)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (session, day, purpose, model) DO UPDATE SET
         requests = excluded.requests, input = excluded.input, cache_read = excluded.cache_read,
         cache_creation = excluded.cache_creation, output = excluded.output
       WHERE excluded.requests > usage.requests`,
      sessionId,
      row.day,
      row.purpose,
      row.model,
      row.requests,
      row.input,
      row.cacheRead,
      row.cacheCreation,
      row.output,
    );
  }
  sql.exec("DELETE FROM usage WHERE day < ?", utcDay(now - KEPT_MS));
}

/** The sums of the rows that a query asks for, by purpose, then model. */
export function usageTotals(sql: SqlStorage, query: UsageQuery): UsageTotal[] {
  const { where, values } = conditions([
    ["session = ?", query.sessionId],
    ["day >= ?", query.from],
    ["day <= ?", query.to],
  ]);
  return sql
    .exec<UsageTotal>(
      `SELECT purpose, model, SUM(requests) AS requests, SUM(input) AS input,
         SUM(cache_read) AS cacheRead, SUM(cache_creation) AS cacheCreation, SUM(output) AS output
       FROM usage WHERE ${where} GROUP BY purpose, model ORDER BY purpose, model`,
      ...values,
    )
    .toArray();
}

/** Tokens of a UTC day, of all sessions and purposes, that were not read from the cache. */
export function tokensOn(sql: SqlStorage, day: string): number {
  return sql
    .exec<{ tokens: number }>(
      "SELECT COALESCE(SUM(input + cache_creation + output), 0) AS tokens FROM usage WHERE day = ?",
      day,
    )
    .one().tokens;
}
