import type { Purpose, Usage } from "../../src/shared/query/model.ts";
import { modelFacts } from "../../src/shared/query/models.ts";

/** Adds one model request to the account of this session. */
export function addUsage(sql: SqlStorage, purpose: Purpose, model: string, usage: Usage): void {
  sql.exec(
    `INSERT INTO usage (purpose, model, requests, input, cache_read, cache_creation, output)
     VALUES (?, ?, 1, ?, ?, ?, ?)
     ON CONFLICT (purpose, model) DO UPDATE SET requests = requests + 1,
       input = input + excluded.input, cache_read = cache_read + excluded.cache_read,
       cache_creation = cache_creation + excluded.cache_creation, output = output + excluded.output`,
    purpose,
    model,
    usage.input,
    usage.cacheRead,
    usage.cacheCreation,
    usage.output,
  );
}

/** The session's tokens in all, in the shape of the contract. */
export function usageSnapshot(sql: SqlStorage): Record<string, unknown> {
  const rows = sql.exec<{
    model: string;
    input: number;
    cache_read: number;
    cache_creation: number;
    output: number;
  }>("SELECT model, input, cache_read, cache_creation, output FROM usage");
  const sum = { input: 0, cacheRead: 0, cacheCreation: 0, output: 0, dollars: 0 };
  for (const row of rows) {
    const { price } = modelFacts(row.model);
    sum.input += row.input;
    sum.cacheRead += row.cache_read;
    sum.cacheCreation += row.cache_creation;
    sum.output += row.output;
    sum.dollars +=
      (row.input * price.input +
        row.cache_read * price.cacheRead +
        row.cache_creation * price.cacheWrite +
        row.output * price.output) /
      1_000_000;
  }
  return {
    input_tokens: sum.input,
    cache_read_input_tokens: sum.cacheRead,
    cache_creation: { ephemeral_5m_input_tokens: sum.cacheCreation, ephemeral_1h_input_tokens: 0 },
    output_tokens: sum.output,
    // The contract takes whole cents; rounding up never shows less than what was spent.
    list_cost: { amount: String(Math.ceil(sum.dollars * 100)), currency: "USD" },
  };
}
