// The session's side of the cost account: its model requests by UTC day, purpose and model, and which
// rows are not reported to the user's account yet. A row is reported again until the account has it.

import * as z from "zod";
import { utcDay } from "../../../src/platform/budget.ts";
import { errorName, log } from "../../../src/platform/log.ts";
import type { UsageRow } from "../../../src/platform/objects/account-rpc.ts";
import { defineState } from "../../../src/platform/state.ts";
import type { ThreadContext } from "../../../src/platform/threads/thread.ts";
import type { UsageSnapshot } from "../../../src/shared/events/session.ts";
import type { Purpose, Usage } from "../../../src/shared/loop/model.ts";
import { modelFacts } from "../../../src/shared/loop/models.ts";
import type { StepHook } from "../../../src/shared/loop/steps.ts";
import { usageOf } from "../../../src/shared/loop/steps.ts";

const counts = {
  requests: z.number(),
  input: z.number(),
  cacheRead: z.number(),
  cacheCreation: z.number(),
  output: z.number(),
};
const schema = z.object({
  /** The sums of all days by model. */
  models: z.array(z.object({ model: z.string(), ...counts })),
  /** Days that are not over, or not reported: whole figures, of which so many requests were reported. */
  rows: z.array(
    z.object({
      day: z.string(),
      // One that only another version knows is summed and told all the same.
      purpose: z.custom<Purpose>((value) => typeof value === "string"),
      model: z.string(),
      ...counts,
      reported: z.number(),
    }),
  ),
});

const state = defineState("usage", schema, { models: [], rows: [] });
const ZERO = { requests: 0, input: 0, cacheRead: 0, cacheCreation: 0, output: 0 };

/** Adds one model request to the account of this session. Within the transaction of its answer. */
export function addUsage(
  sql: SqlStorage,
  purpose: Purpose,
  model: string,
  usage: Usage,
  now: number,
): void {
  state.write(sql, withRequest(state.read(sql), { day: utcDay(now), purpose, model }, usage));
}

/**
 * Counts a request that no step of a thread tells of. It is on disk with the next change of state: a death
 * before that forgets it, as it does one that it cuts off. Never throws.
 */
export function countUsage(
  { sql, now }: Pick<ThreadContext, "sql" | "now">,
  { purpose, model }: { purpose: Purpose; model: string },
  usage: Usage | undefined,
): void {
  if (!usage) return;
  try {
    state.note(sql, withRequest(state.read(sql), { day: utcDay(now()), purpose, model }, usage));
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
  return state
    .read(sql)
    .rows.filter((row) => !isReported(row))
    .map(({ reported: _, ...row }) => row);
}

/**
 * The account has these rows. One that grew meanwhile is reported again: every request that is added
 * shows in their number. Forgotten, they are told again.
 */
export function markReported(sql: SqlStorage, told: readonly UsageRow[]): void {
  const { models, rows } = state.read(sql);
  state.note(sql, {
    models,
    rows: rows.map((row) => {
      const requests = told.find((each) => isRow(each, row))?.requests ?? 0;
      return { ...row, reported: Math.max(row.reported, requests) };
    }),
  });
}

/** The session's tokens in all, in the shape of the contract. */
export function usageSnapshot(sql: SqlStorage): UsageSnapshot {
  const sum = { input: 0, cacheRead: 0, cacheCreation: 0, output: 0, microdollars: 0 };
  for (const row of state.read(sql).models) {
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

function withRequest(
  { models, rows }: z.infer<typeof schema>,
  key: RowKey,
  usage: Usage,
): z.infer<typeof schema> {
  const sum = models.find(({ model }) => model === key.model) ?? { model: key.model, ...ZERO };
  const row = rows.find((each) => isRow(each, key));
  const today = row ?? { ...key, ...ZERO, reported: 0 };
  return {
    models: [...models.filter((each) => each !== sum), { ...sum, ...added(sum, usage) }],
    rows: [
      ...rows.filter((each) => each !== row && (each.day >= key.day || !isReported(each))),
      { ...today, ...added(today, usage) },
    ],
  };
}

type RowKey = Pick<UsageRow, "day" | "purpose" | "model">;

function isRow(row: RowKey, { day, purpose, model }: RowKey): boolean {
  return row.day === day && row.purpose === purpose && row.model === model;
}

function isReported({ requests, reported }: { requests: number; reported: number }): boolean {
  return reported >= requests;
}

function added(to: Usage & { requests: number }, usage: Usage) {
  return {
    requests: to.requests + 1,
    input: to.input + usage.input,
    cacheRead: to.cacheRead + usage.cacheRead,
    cacheCreation: to.cacheCreation + usage.cacheCreation,
    output: to.output + usage.output,
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
