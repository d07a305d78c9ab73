// The session's side of the cost account: its model requests by UTC day, purpose and model, and which
// rows are not reported to the user's account yet. A row is reported again until the account has it.

import { utcDay } from "../../../src/platform/budget.ts";
import { errorName, log } from "../../../src/platform/log.ts";
import type { UsageRow } from "../../../src/platform/objects/account-rpc.ts";
import type { ThreadContext } from "../../../src/platform/threads/thread.ts";
import type { UsageSnapshot } from "../../../src/shared/events/session.ts";
import type { Purpose, Usage } from "../../../src/shared/loop/model.ts";
import { modelFacts } from "../../../src/shared/loop/models.ts";
import type { StepHook } from "../../../src/shared/loop/steps.ts";
import { usageOf } from "../../../src/shared/loop/steps.ts";

/** One of the tables of a session. */
export const USAGE_TABLE = `CREATE TABLE IF NOT EXISTS usage_days (
    day TEXT NOT NULL, purpose TEXT NOT NULL, model TEXT NOT NULL, requests INTEGER NOT NULL,
    input INTEGER NOT NULL, cache_read INTEGER NOT NULL, cache_creation INTEGER NOT NULL,
    output INTEGER NOT NULL, dirty INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (day, purpose, model))`;

/** Adds one model request to the account of this session. Within the transaction of its answer. */
export function addUsage(
  sql: SqlStorage,
  purpose: Purpose,
  model: string,
  usage: Usage,
  now: number,
): void {
  sql.exec(
    `INSERT INTO usage_days
       (day, purpose, model, requests, input, cache_read, cache_creation, output)
     VALUES (?, ?, ?, 1, ?, ?, ?, ?)
     ON CONFLICT (day, purpose, model) DO UPDATE SET requests = requests + 1,
       input = input + excluded.input, cache_read = cache_read + excluded.cache_read,
       cache_creation = cache_creation + excluded.cache_creation,
       output = output + excluded.output, dirty = 1`,
    utcDay(now),
    purpose,
    model,
    usage.input,
    usage.cacheRead,
    usage.cacheCreation,
    usage.output,
  );
}

/** Counts a request that no step of a thread tells of, in a transaction of its own. Never throws. */
export function countUsage(
  { sql, commit, now }: ThreadContext,
  { purpose, model }: { purpose: Purpose; model: string },
  usage: Usage | undefined,
): void {
  if (!usage) return;
  try {
    commit(() => addUsage(sql, purpose, model, usage, now()));
  } catch (error) {
    log("session.usage_lost", { purpose, error: errorName(error) });
  }
}

/** Counts each request of a thread with the step that ends it, whatever becomes of its answer. */
export function usageHook(context: ThreadContext, purpose: Purpose, own: string): StepHook {
  let model = own;
  return {
    record(step, now) {
      // A fallback may have taken over.
      if (step.type === "request_started") model = step.model;
      const usage = usageOf(step);
      if (usage) addUsage(context.sql, purpose, model, usage, now);
    },
    dropped: (step) => countUsage(context, { purpose, model }, usageOf(step)),
  };
}

/** What is not reported yet: whole figures, which the account may take any number of times. */
export function unreportedUsage(sql: SqlStorage): UsageRow[] {
  return sql
    .exec<UsageRow>(
      `SELECT day, purpose, model, requests, input, cache_read AS cacheRead,
         cache_creation AS cacheCreation, output
       FROM usage_days WHERE dirty = 1 ORDER BY day, purpose, model`,
    )
    .toArray();
}

/**
 * The account has these rows. One that grew meanwhile is reported again: every request that
 * is added shows in their number. Within a transaction.
 */
export function markReported(sql: SqlStorage, rows: readonly UsageRow[]): void {
  for (const { day, purpose, model, requests } of rows) {
    sql.exec(
      "UPDATE usage_days SET dirty = 0 WHERE day = ? AND purpose = ? AND model = ? AND requests = ?",
      day,
      purpose,
      model,
      requests,
    );
  }
}

/** The session's tokens in all, in the shape of the contract. */
export function usageSnapshot(sql: SqlStorage): UsageSnapshot {
  const rows = sql.exec<Omit<UsageRow, "day" | "purpose" | "requests">>(
    `SELECT model, SUM(input) AS input, SUM(cache_read) AS cacheRead,
       SUM(cache_creation) AS cacheCreation, SUM(output) AS output
     FROM usage_days GROUP BY model ORDER BY model`,
  );
  const sum = { input: 0, cacheRead: 0, cacheCreation: 0, output: 0, microdollars: 0 };
  for (const row of rows) {
    sum.input += row.input;
    sum.cacheRead += row.cacheRead;
    sum.cacheCreation += row.cacheCreation;
    sum.output += row.output;
    sum.microdollars += microdollars(row.model, row);
  }
  return {
    input_tokens: sum.input,
    cache_read_input_tokens: sum.cacheRead,
    cache_creation: { ephemeral_5m_input_tokens: sum.cacheCreation, ephemeral_1h_input_tokens: 0 },
    output_tokens: sum.output,
    // The contract takes whole cents; rounding up never shows less than what was spent.
    list_cost: { amount: String(Math.ceil(sum.microdollars / 10_000)), currency: "USD" },
  };
}

/** What tokens cost by the list, in millionths of a US dollar: prices are by the million tokens. */
export function microdollars(model: string, usage: Usage): number {
  const { price } = modelFacts(model);
  return (
    usage.input * price.input +
    usage.cacheRead * price.cacheRead +
    usage.cacheCreation * price.cacheWrite +
    usage.output * price.output
  );
}
