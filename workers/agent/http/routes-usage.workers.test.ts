import { env } from "cloudflare:test";
import { exports } from "cloudflare:workers";
import { SignJWT } from "jose";
import { expect, test } from "vitest";
import { newId } from "../../../src/platform/ids.ts";
import type { UsageRow } from "../../../src/platform/objects/account-rpc.ts";
import { accountStub } from "../../../src/platform/objects/account-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import type { AgentEnv } from "../../env.ts";
import { sessionStub } from "../session/stubs.ts";
import { newMeta } from "../testing/meta-fixture.ts";

declare global {
  namespace Cloudflare {
    interface GlobalProps {
      mainModule: typeof import("../../main.ts");
    }
    interface Env extends AgentEnv {
      AUTH_SECRET: string;
    }
  }
}

const NOT_FOUND = "404 There is no such session";
const row = (fields: Partial<UsageRow>): UsageRow => ({
  day: new Date().toISOString().slice(0, 10),
  purpose: "main",
  model: "claude-opus-5-5",
  requests: 2,
  input: 7,
  cacheRead: 1_000_001,
  cacheCreation: 3,
  output: 11,
  ...fields,
});

test("tokens and price are told by purpose and model, for the user and for one session", async () => {
  const { user, account, get } = fresh();
  const [one, other] = [newId("sesn"), newId("sesn")];
  await account.reportUsage(one, [row({}), row({ purpose: "recall", model: "claude-haiku-5-5" })]);
  await account.reportUsage(other, [row({})]);
  const main = {
    purpose: "main",
    model: "claude-opus-5-5",
    requests: 2,
    input_tokens: 7,
    cache_read_input_tokens: 1_000_001,
    cache_creation_input_tokens: 3,
    output_tokens: 11,
    // 7 × 4 + 1,000,001 × 0.2 + 3 × 5 + 11 × 20 millionths of a dollar, to the nearest.
    cost_usd: 0.200263,
  };
  const recall = { ...main, purpose: "recall", model: "claude-haiku-5-5", cost_usd: 0.010007 };
  expect(await get(`?session_id=${one}`)).toEqual({ data: [main, recall], daily_budget: null });
  expect(await get("")).toMatchObject({
    data: [{ purpose: "main", requests: 4, cost_usd: 0.400526 }, recall],
  });
  expect(await get("", { tenant: "elsewhere", user })).toEqual({ data: [], daily_budget: null });
});

test("a session that asked no model yet has an empty list; one that is not there is a 404", async () => {
  const { owner, account, get } = fresh();
  const id = await newSession(owner);
  expect(await get(`?session_id=${id}`)).toMatchObject({ data: [] });
  for (const text of [newId("sesn"), "sesn_1", "", "x'y", newId("drm")]) {
    expect(await get(`?session_id=${text}`)).toBe(NOT_FOUND);
  }
  await account.reportUsage(id, [row({})]);
  expect(await get(`?session_id=${id}`, fresh().owner)).toBe(NOT_FOUND);
});

test("a session that was deleted is told of as long as the account holds it", async () => {
  const { owner, account, get } = fresh();
  const id = await newSession(owner);
  await account.reportUsage(id, [row({})]);
  unwrap(await sessionStub(env, owner, id).destroy());
  await account.remove(id);
  expect(await get(`?session_id=${id}`)).toMatchObject({ data: [{ requests: 2 }] });
  expect(await get(`?session_id=${id}&to=2020-01-01`)).toMatchObject({ data: [] });
  const silent = await newSession(owner);
  unwrap(await sessionStub(env, owner, silent).destroy());
  expect(await get(`?session_id=${silent}`)).toBe(NOT_FOUND);
});

test("days bound what is summed, and unknown fields are ignored", async () => {
  const { account, get } = fresh();
  const today = new Date().toISOString().slice(0, 10);
  const before = new Date(Date.parse(today) - 1).toISOString().slice(0, 10);
  await account.reportUsage(newId("sesn"), [
    row({ day: before, requests: 1 }),
    row({ day: today }),
  ]);
  expect(await get(`?from=${today}`)).toMatchObject({ data: [{ requests: 2 }] });
  expect(await get(`?to=${before}`)).toMatchObject({ data: [{ requests: 1 }] });
  expect(await get(`?from=${before}&to=${today}&beta=true&group_by=day`)).toMatchObject({
    data: [{ requests: 3 }],
  });
  expect(await get(`?from=${today}&to=${before}`)).toMatchObject({ data: [] });
});

test.each([
  "",
  "today",
  "2026-02-30",
  "2026-13-01",
  "2026-1-1",
  "2026-01-01T00:00:00Z",
  "20260101",
  "2026-01-01' OR 1",
])("a day of %j is refused with its field and the form", async (text) => {
  const { get } = fresh();
  for (const field of ["from", "to"]) {
    expect(await get(`?${field}=${encodeURIComponent(text)}`)).toBe(
      `400 ${field}: "${text}" is not a day. Use YYYY-MM-DD in UTC, such as 2026-01-31`,
    );
  }
});

/** A user of its own, its account, and its way to ask for its usage: the body, or how it failed. */
function fresh() {
  const user = newId("sesn");
  const owner = { tenant: "acme", user };
  const get = async (query: string, as = owner): Promise<unknown> => {
    const token = await new SignJWT({ org: as.tenant })
      .setProtectedHeader({ alg: "HS256" })
      .setSubject(as.user)
      .setExpirationTime("1h")
      .sign(new TextEncoder().encode(env.AUTH_SECRET));
    const response = await exports.default.fetch(`http://service/v1/usage${query}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const body: unknown = await response.json();
    if (response.ok) return body;
    return `${response.status} ${Reflect.get(Object(Reflect.get(Object(body), "error")), "message")}`;
  };
  return { user, owner, account: accountStub(env, owner), get };
}

async function newSession(owner: { tenant: string; user: string }): Promise<string> {
  const id = newId("sesn");
  unwrap(await sessionStub(env, owner, id).create({ ...newMeta(id), ...owner }, []));
  return id;
}
