// A user's tokens of the day: when they are used up background work stops, with an event, and the
// conversation goes on.

import { expect, test } from "vitest";
import { answers, newSession, type SessionEvent, serviceOfFile, turn, typesOf } from "./service.ts";

const service = await serviceOfFile({ DAILY_TOKEN_BUDGET: "1000", RECALL_WAIT_MS: "2000" });
const client = await service.client();

test("over the budget nothing runs in the background, words recall, and turns go on", async () => {
  const id = await newSession(client, "budget");
  await turn(client, id, "Remember that I drink green tea");
  const second = await newSession(client, "budget");
  const events = await turn(client, second, "I work in Oslo. Which green tea do I drink?");
  expect(answers(events).join()).toContain("tea");
  const recalled = events.find((event) => (event.type as string) === "memory.recalled");
  expect(recalled).toMatchObject({ source: "words", fallback: "budget" });
  expect(JSON.stringify(recalled)).toContain(".md");
  const skipped = events.filter(
    (event: SessionEvent & { reason?: string }) => event.reason === "budget",
  );
  expect(skipped).toMatchObject([{ type: "memory.skipped", by: "extraction" }]);
  const again = await turn(client, second, "We always deploy on Mondays.");
  expect(typesOf(again)).toContain("agent.message");
  await client.beta.sessions.archive(second);
  const purposes = new Set(service.model.requests.map(({ purpose }) => purpose));
  expect([...purposes]).toEqual(["main"]);

  const usage: { daily_budget: { tokens: number; used: number } } = await client.get("/v1/usage");
  expect(usage.daily_budget.tokens).toBe(1000);
  expect(usage.daily_budget.used).toBeGreaterThanOrEqual(1000);
});

test("another user has a budget of their own", async () => {
  const bob = await service.client({ user: "bob" });
  const usage: { daily_budget: { used: number } } = await bob.get("/v1/usage");
  expect(usage.daily_budget.used).toBe(0);
});
