import { env, runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { forgetState, STATE_TABLE } from "../../../src/platform/state.ts";
import type { AgentEnv } from "../../env.ts";
import { addUsage, markReported, unreportedUsage, usageSnapshot } from "./usage.ts";

declare global {
  namespace Cloudflare {
    interface Env extends AgentEnv {}
  }
}

const noon = Date.UTC(2026, 10, 30, 12);
const midnight = Date.UTC(2026, 11, 1);
const opus = "claude-opus-5-5";
const usage = { input: 10, cacheRead: 2000, cacheCreation: 300, output: 50 };

test("requests add up by UTC day, purpose and model, and are all to be told", async () => {
  await inside((sql) => {
    addUsage(sql, "main", opus, usage, noon);
    addUsage(sql, "main", opus, usage, midnight - 1);
    addUsage(sql, "main", opus, usage, midnight);
    addUsage(sql, "recall", "claude-sonnet-5-5", usage, noon);
    const one = { requests: 1, ...usage };
    const two = { requests: 2, input: 20, cacheRead: 4000, cacheCreation: 600, output: 100 };
    expect(unreportedUsage(sql)).toEqual([
      { day: "2026-11-30", purpose: "main", model: opus, ...two },
      { day: "2026-12-01", purpose: "main", model: opus, ...one },
      { day: "2026-11-30", purpose: "recall", model: "claude-sonnet-5-5", ...one },
    ]);
  });
});

test("what was told is not told again, until something is added", async () => {
  await inside((sql) => {
    addUsage(sql, "main", opus, usage, noon);
    addUsage(sql, "recall", opus, usage, noon);
    markReported(sql, unreportedUsage(sql));
    expect(unreportedUsage(sql)).toEqual([]);
    addUsage(sql, "main", opus, usage, noon);
    expect(unreportedUsage(sql)).toMatchObject([{ purpose: "main", requests: 2, input: 20 }]);
  });
});

test("a request that comes while the account is told, or a second mark, loses nothing", async () => {
  await inside((sql) => {
    addUsage(sql, "main", opus, usage, noon);
    const told = unreportedUsage(sql);
    // Not a token of it was counted by the server; it is a request all the same.
    addUsage(sql, "main", opus, { input: 0, cacheRead: 0, cacheCreation: 0, output: 0 }, noon);
    markReported(sql, told);
    markReported(sql, told);
    const rest = unreportedUsage(sql);
    expect(rest).toMatchObject([{ requests: 2, input: 10 }]);
    markReported(sql, rest);
    markReported(sql, told);
    expect(unreportedUsage(sql)).toEqual([]);
  });
});

test("the session's sum is that of all days, purposes and models, told or not", async () => {
  await inside((sql) => {
    expect(usageSnapshot(sql)).toMatchObject({
      input_tokens: 0,
      list_cost: { amount: "0", currency: "USD" },
    });
    addUsage(sql, "main", opus, { ...usage, output: 1_000_000 }, noon);
    markReported(sql, unreportedUsage(sql));
    addUsage(sql, "main", opus, usage, midnight);
    addUsage(sql, "recall", "claude-sonnet-5-5", { ...usage, output: 1_000_000 }, noon);
    expect(usageSnapshot(sql)).toEqual({
      input_tokens: 30,
      cache_read_input_tokens: 6000,
      cache_creation: { ephemeral_5m_input_tokens: 900, ephemeral_1h_input_tokens: 0 },
      output_tokens: 2_000_050,
      // 20 and 10 dollars, and less than a cent.
      list_cost: { amount: "3001", currency: "USD" },
    });
  });
});

test("a purpose that only another version knows is summed and told like any other", async () => {
  await inside((sql) => {
    addUsage(sql, "main", opus, usage, noon);
    sql.exec("UPDATE state SET body = replace(body, '\"main\"', '\"augury\"')");
    forgetState(sql);
    expect(unreportedUsage(sql)).toMatchObject([{ purpose: "augury", requests: 1 }]);
    expect(usageSnapshot(sql)).toMatchObject({ input_tokens: 10 });
  });
});

/** In an object that holds no session. */
async function inside(work: (sql: SqlStorage) => void): Promise<void> {
  const object = env.SESSION.get(env.SESSION.newUniqueId());
  await runInDurableObject(object, (_instance, { storage: { sql } }) => {
    sql.exec(STATE_TABLE);
    work(sql);
  });
}
