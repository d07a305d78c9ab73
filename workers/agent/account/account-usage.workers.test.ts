import { env, evictDurableObject, runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { newId } from "../../../src/platform/ids.ts";
import type { AccountStub, UsageRow } from "../../../src/platform/objects/account-rpc.ts";
import { accountStub } from "../../../src/platform/objects/account-rpc.ts";
import type { AgentEnv } from "../../env.ts";
import { createUsageTable, reportUsage, tokensOn, usageTotals } from "./account-usage.ts";

declare global {
  namespace Cloudflare {
    interface Env extends AgentEnv {}
  }
}

const opus = "claude-opus-5-5";
const today = new Date().toISOString().slice(0, 10);
const tokens = { input: 10, cacheRead: 2000, cacheCreation: 300, output: 50 };
const row = (fields: Partial<UsageRow> = {}): UsageRow => ({
  day: today,
  purpose: "main",
  model: opus,
  requests: 1,
  ...tokens,
  ...fields,
});

test("a report that is doubled, late or overtaken changes nothing", async () => {
  const { account, id } = fresh();
  const first = row();
  const second = row({ requests: 2, input: 20, output: 100 });
  for (const report of [second, first, second, first]) await account.reportUsage(id, [report]);
  const { day: _, ...sum } = second;
  expect(await account.usage({})).toEqual([sum]);
  expect(await account.tokensOn(today)).toBe(20 + 300 + 100);
});

test("sessions, days, purposes and models add up, in a stable order", async () => {
  const { account, id, other } = fresh();
  await account.reportUsage(other, [row({ purpose: "recall" }), row({ model: "b" }), row()]);
  await account.reportUsage(id, [row({ day: yesterday() }), row({ model: "a" })]);
  const totals = await account.usage({});
  expect(totals.map(({ purpose, model, requests }) => [purpose, model, requests])).toEqual([
    ["main", "a", 1],
    ["main", "b", 1],
    ["main", opus, 2],
    ["recall", opus, 1],
  ]);
  expect(totals[2]).toMatchObject({ input: 20, cacheRead: 4000, cacheCreation: 600, output: 100 });
});

test("a session and days, both inclusive, can be asked for alone and together", async () => {
  const { account, id, other } = fresh();
  await account.reportUsage(id, [row({ day: yesterday() }), row({ requests: 10 })]);
  await account.reportUsage(other, [row({ requests: 100 })]);
  const requests = async (query: object) =>
    (await account.usage(query)).reduce((sum, total) => sum + total.requests, 0);
  expect(await requests({})).toBe(111);
  expect(await requests({ sessionId: id })).toBe(11);
  expect(await requests({ from: today })).toBe(110);
  expect(await requests({ to: yesterday() })).toBe(1);
  expect(await requests({ from: yesterday(), to: today })).toBe(111);
  expect(await requests({ sessionId: id, from: today, to: today })).toBe(10);
  expect(await requests({ from: today, to: yesterday() })).toBe(0);
  expect(await requests({ sessionId: newId("sesn") })).toBe(0);
});

test("a day's tokens are those of all sessions and purposes that no cache gave", async () => {
  const { account, id, other } = fresh();
  expect(await account.tokensOn(today)).toBe(0);
  await account.reportUsage(id, [row(), row({ purpose: "recall" })]);
  await account.reportUsage(other, [row(), row({ day: yesterday() })]);
  expect(await account.tokensOn(today)).toBe(3 * 360);
});

test("what was reported is there after the object's death and the session's deletion", async () => {
  const { account, id, owner } = fresh();
  await account.reportUsage(id, [row()]);
  await account.remove(id);
  await evictDurableObject(env.ACCOUNT.get(env.ACCOUNT.idFromName(JSON.stringify(owner))));
  expect(await account.usage({ sessionId: id })).toHaveLength(1);
});

test("a day is kept for 400 days, and a late report does not bring it back", async () => {
  await inside((sql) => {
    const now = Date.UTC(2028, 1, 5);
    const days = ["2026-12-31", "2027-01-01", "2028-02-05"];
    const rows = days.map((day) => row({ day }));
    reportUsage(sql, "sesn_1", rows, now);
    expect(days.map((day) => tokensOn(sql, day))).toEqual([0, 360, 360]);
    reportUsage(sql, "sesn_1", [], now + 24 * 60 * 60 * 1000);
    expect(days.map((day) => tokensOn(sql, day))).toEqual([0, 0, 360]);
  });
});

test("a purpose that only another version knows is read like any other", async () => {
  await inside((sql) => {
    reportUsage(sql, "sesn_1", [row()], Date.now());
    sql.exec("UPDATE usage SET purpose = 'augury'");
    expect(usageTotals(sql, {})).toMatchObject([{ purpose: "augury", requests: 1 }]);
    expect(tokensOn(sql, today)).toBe(360);
  });
});

/** An account of its own, and ids of two of its sessions. */
function fresh(): { account: AccountStub; owner: [string, string]; id: string; other: string } {
  const user = newId("sesn");
  const account = accountStub(env, { tenant: "acme", user });
  return { account, owner: ["acme", user], id: newId("sesn"), other: newId("sesn") };
}

function yesterday(): string {
  return new Date(Date.parse(today) - 1).toISOString().slice(0, 10);
}

async function inside(work: (sql: SqlStorage) => void): Promise<void> {
  const object = env.ACCOUNT.get(env.ACCOUNT.newUniqueId());
  await runInDurableObject(object, (_instance, { storage: { sql } }) => {
    createUsageTable(sql);
    work(sql);
  });
}
