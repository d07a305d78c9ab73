// What turns cost, from outside: told by the sessions, answered by the account.

import { expect, test } from "vitest";
import { newSession, serviceOfFile, stored, turn, until } from "./service.ts";

const BUDGET = 50_000_000;
const service = await serviceOfFile({ DAILY_TOKEN_BUDGET: String(BUDGET) });

interface Line {
  purpose: string;
  model: string;
  requests: number;
  input_tokens: number;
  cache_read_input_tokens: number;
  cache_creation_input_tokens: number;
  output_tokens: number;
  cost_usd: number;
}

interface Usage {
  data: Line[];
  daily_budget: { tokens: number; used: number; resets_at: string } | null;
}

test("without a token the usage is nobody's", async () => {
  expect((await fetch(`${service.url}/v1/usage`)).status).toBe(401);
});

test("a user who asked no model has used nothing of the day's budget", async () => {
  const before = Date.now();
  const { data, daily_budget } = await usageOf("newcomer");
  expect([data, daily_budget]).toMatchObject([[], { tokens: BUDGET, used: 0 }]);
  const resets = Date.parse(daily_budget?.resets_at ?? "");
  expect(new Date(resets).toISOString()).toMatch(/T00:00:00\.000Z$/);
  expect(resets).toBeGreaterThan(before);
  expect(resets).toBeLessThanOrEqual(Date.now() + 24 * 60 * 60 * 1000);
});

test("a session's requests come to be in the account, with the tokens that the session tells itself", async () => {
  const client = await service.client({ user: "bea" });
  const id = await newSession(client);
  expect((await usageOf("bea", `?session_id=${id}`)).data).toEqual([]);
  await turn(client, id, "hello there");
  await turn(client, id, "remember that I like short answers");
  const asked = (await stored(client, id)).filter(
    (event) => event.type === "span.model_request_end" && !event.is_error,
  );
  await until("the account has every request of the conversation", async () => {
    const { data } = await usageOf("bea", `?session_id=${id}`);
    return mainOf(data)?.requests === asked.length;
  });
  await until("account and session agree", async () => {
    const { data } = await usageOf("bea", `?session_id=${id}`);
    const { usage } = await client.beta.sessions.retrieve(id);
    return (
      sum(data, "input_tokens") === usage?.input_tokens &&
      sum(data, "cache_read_input_tokens") === usage?.cache_read_input_tokens &&
      sum(data, "cache_creation_input_tokens") ===
        usage?.cache_creation?.ephemeral_5m_input_tokens &&
      sum(data, "output_tokens") === usage?.output_tokens
    );
  });
  const main = mainOf((await usageOf("bea", `?session_id=${id}`)).data);
  expect(main?.cost_usd).toBeGreaterThan(0);
});

test("the user's usage is that of all sessions, and what no cache gave counts toward the day", async () => {
  const client = await service.client({ user: "cy" });
  const ids = [await newSession(client), await newSession(client)];
  await Promise.all(ids.map((id) => turn(client, id, "hello there")));
  await until("both sessions have told", async () => {
    const { data } = await usageOf("cy");
    return mainOf(data)?.requests === 2;
  });
  await until("the day's tokens are those of all its requests", async () => {
    const { data, daily_budget } = await usageOf("cy");
    const fresh =
      sum(data, "input_tokens") +
      sum(data, "cache_creation_input_tokens") +
      sum(data, "output_tokens");
    return fresh > 0 && daily_budget?.used === fresh;
  });
  expect((await usageOf("somebody else")).data).toEqual([]);
});

test("a session that is deleted right after its answer has told what it took", async () => {
  const client = await service.client({ user: "dee" });
  const id = await newSession(client);
  await turn(client, id, "hello there");
  await client.beta.sessions.delete(id);
  await until("the account has the request of the deleted session", async () => {
    const { data } = await usageOf("dee");
    return mainOf(data)?.requests === 1;
  });
  expect(mainOf((await usageOf("dee", `?session_id=${id}`)).data)?.requests).toBe(1);
});

async function usageOf(user: string, query = ""): Promise<Usage> {
  const response = await fetch(`${service.url}/v1/usage${query}`, {
    headers: { authorization: `Bearer ${await service.token({ user })}` },
  });
  const body: unknown = await response.json();
  expect([response.status, body]).toEqual([200, expect.anything()]);
  return body as Usage;
}

function mainOf(lines: readonly Line[]): Line | undefined {
  return lines.find((line) => line.purpose === "main");
}

function sum(lines: readonly Line[], field: Exclude<keyof Line, "purpose" | "model">): number {
  return lines.reduce((total, line) => total + line[field], 0);
}
