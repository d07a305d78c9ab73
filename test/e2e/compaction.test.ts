// A conversation on a model with a small window: it goes on, and a person can still read all of it.

import { expect, test } from "vitest";
import {
  compactions,
  firstText,
  occurrences,
  PAD,
  promptTokensOf,
  refused,
  requestsFor,
  talkUntilCompacted,
} from "./context-fixture.ts";
import { memoryPrefixOf, memoryText } from "./memory-fixture.ts";
import {
  answers,
  bucketOf,
  eventsUntil,
  NO_BACKGROUND,
  newSession,
  say,
  sentMessages,
  serviceOfFile,
  stored,
  turn,
  typesOf,
  until,
} from "./service.ts";

const service = await serviceOfFile({ ...NO_BACKGROUND, CONTEXT_WINDOW_TOKENS: "12000" });
const client = await service.client();
const compact = (id: string) =>
  client.post(`/v1/sessions/${id}/compact`) as Promise<{
    status: string;
    event?: { type: string };
  }>;

/** Puts the project's plan, or reads it. */
async function planFile(text?: string): Promise<string> {
  const response = await fetch(`${service.url}/v1/workspaces/files/files/plan.md`, {
    headers: { authorization: `Bearer ${await service.token()}` },
    ...(text === undefined ? {} : { method: "PUT", body: text }),
  });
  return response.text();
}

/** Turns whose prompt holds more than a compaction would keep. */
async function talk(id: string): Promise<void> {
  for (let n = 0; n < 6; n += 1) await turn(client, id, `Turn ${n}: ${PAD}`);
}

test("what nears the window is compacted, nothing is refused, and all of it can still be read", async () => {
  const id = await newSession(client);
  const turns = await talkUntilCompacted(client, id);
  const [cut] = await compactions(client, id);
  expect(cut).toMatchObject({ trigger: "auto", used_notes: false });
  expect(cut?.tokens_before).toBeGreaterThanOrEqual(8640);
  expect(cut?.tokens_after).toBeLessThan((cut?.tokens_before ?? 0) * 0.6);
  const events = await turn(client, id, "And now something else entirely.");
  expect(Math.abs(promptTokensOf(events) - (cut?.tokens_after ?? 0))).toBeLessThan(400);
  expect(refused(service, id)).toEqual([]);
  const said = (await stored(client, id)).filter((event) => event.type === "user.message");
  expect(said).toHaveLength(turns + 1);
});

test("COMP-06: the message that is answered stands behind the boundary, word for word", async () => {
  const id = await newSession(client);
  await turn(client, id, "delete branch x");
  const turns = await talkUntilCompacted(client, id);
  const last = sentMessages(service.model, id).at(-1) ?? [];
  expect(firstText(last)).toMatch(/^<system-reminder>[\s\S]*<summary>[\s\S]*<\/summary>/);
  expect(firstText(last)).toContain("done is done");
  expect(JSON.stringify(last.at(-1))).toContain(`Turn ${turns}: The quick`);
  expect(last.map(({ role }) => role).join(" ")).toMatch(/^user (user )?(assistant user ?)*$/);
});

test("between two compactions each request begins with the bytes of the one before", async () => {
  const id = await newSession(client);
  await talkUntilCompacted(client, id, 2);
  const bodies = requestsFor(service, id, "main").map(({ body }) => {
    const { messages } = body as { messages: { role: string; content: object[] }[] };
    return messages
      .flatMap(({ role, content }) =>
        content.map((block) => ({ role, ...block, cache_control: 0 })),
      )
      .map((block) => JSON.stringify(block));
  });
  const broken = bodies
    .slice(1)
    .filter((body, n) => !(bodies[n] ?? []).every((b, k) => b === body[k]));
  expect(broken).toHaveLength(2);
  // The summary is asked for with the conversation's own bytes.
  const summaries = requestsFor(service, id, "compaction");
  expect(summaries).toHaveLength(2);
  for (const { body, usage } of summaries) {
    expect((body as { tools: unknown[] }).tools).toHaveLength(6);
    expect(usage?.cache_read_input_tokens).toBeGreaterThan(5 * (usage?.input_tokens ?? 0));
  }
});

test("COMP-04: the memory's index stands once in each request, and is not attached again", async () => {
  const bucket = await bucketOf(service);
  const prefix = await memoryPrefixOf(client, await newSession(client, "index"));
  await bucket.put(`${prefix}a.md`, memoryText("Alpha", "MARKER-OF-A-HOOK", "user"));
  await bucket.put(`${prefix}MEMORY.md`, "- [Alpha](a.md) - MARKER-OF-THE-INDEX\n");
  const id = await newSession(client, "index");
  await turn(client, id, `Read ${prefix.replace("t/acme/u/ann", "")}MEMORY.md`);
  await talkUntilCompacted(client, id, 1);
  const [before, after] = requestsFor(service, id, "main")
    .map(({ body }) => body as { system: unknown; messages: unknown })
    .slice(-2);
  expect(occurrences(after?.system, "MARKER-OF-THE-INDEX")).toBe(1);
  expect(occurrences(after?.messages, "MARKER-OF-THE-INDEX")).toBe(0);
  expect(after?.system).toEqual(before?.system);
});

test("the files that the agent was at work with are there again, as they are now", async () => {
  const id = await newSession(client, "files");
  const path = "/workspace/files/plan.md";
  await planFile("Ship on Monday.\n");
  await turn(client, id, `Read ${path}`);
  await planFile("Ship on Friday.\n");
  await talkUntilCompacted(client, id);
  const last = sentMessages(service.model, id).at(-1);
  expect(firstText(last)).toContain(`<file path="${path}">\nShip on Friday.`);
  // What is shown whole counts as read.
  await turn(client, id, `Write ${path}: Ship on Sunday.`);
  expect(await planFile()).toContain("Sunday");
});

test("a model that says that the prompt is too long is asked once more, with less", async () => {
  const id = await newSession(client);
  await talk(id);
  service.model.enqueue({
    fault: { type: "status", status: 400, message: "prompt is too long: 9 tokens > 8 maximum" },
    match: { session: id, purpose: "main" },
  });
  const events = await turn(client, id, "What now?");
  expect(answers(events)).toHaveLength(1);
  expect(await compactions(client, id)).toMatchObject([{ trigger: "too_long" }]);
  expect(typesOf(events).filter((type) => type === "session.error")).toHaveLength(1);
});

test("a message that is larger than the window is refused in words, and the next one is answered", async () => {
  const id = await newSession(client);
  await turn(client, id, "hello");
  const events = await turn(client, id, "word ".repeat(20_000));
  const error = events.find((event) => event.type === "session.error");
  expect(JSON.stringify(error)).toMatch(/needs about \d+ tokens, more than the 9600/);
  const idle = events.at(-1);
  expect(idle?.type === "session.status_idle" && idle.stop_reason.type).toBe("retries_exhausted");
  expect(requestsFor(service, id, "compaction")).toEqual([]);
  expect(answers(await turn(client, id, "Something short."))).toHaveLength(1);
  expect(JSON.stringify(sentMessages(service.model, id).at(-1)).length).toBeLessThan(10_000);
});

test("COMP-05: a prompt whose fixed part is too large says so, and asks nobody", async () => {
  const { id } = await client.beta.sessions.create({
    agent: { type: "agent_with_overrides", id: "default", system: "rule ".repeat(15_000) },
    environment_id: "fixed",
  });
  const events = await turn(client, id, "hello");
  expect(JSON.stringify(events)).toMatch(/system prompt, the memory's index and the tools take/);
  expect(requestsFor(service, id, "main")).toEqual([]);
});

test("COMP-05: a summary that is too long itself is asked for over less", async () => {
  const id = await newSession(client);
  service.model.enqueue({
    fault: { type: "status", status: 400, message: "prompt is too long: 9 tokens > 8 maximum" },
    match: { session: id, purpose: "compaction" },
  });
  await talkUntilCompacted(client, id);
  const [first, second] = requestsFor(service, id, "compaction");
  expect(JSON.stringify(second?.body).length).toBeLessThan(JSON.stringify(first?.body).length);
});

test("three summaries that fail stop it for the turn; the conversation goes on and it is tried again", async () => {
  const id = await newSession(client);
  service.model.enqueue({
    fault: { type: "status", status: 500 },
    match: { session: id, purpose: "compaction" },
    times: 4,
  });
  let failures = 0;
  for (let n = 0; failures < 3; n += 1) {
    const events = await turn(client, id, failures === 0 ? `Turn ${n}: ${PAD}` : "And more.");
    expect(answers(events)).toHaveLength(1);
    failures = (await stored(client, id)).filter((event) =>
      JSON.stringify(event).includes("could not be compacted"),
    ).length;
  }
  expect(await compactions(client, id)).toEqual([]);
  await turn(client, id, "once more");
  await turn(client, id, "and again");
  expect(await compactions(client, id)).toHaveLength(1);
  expect(refused(service, id)).toEqual([]);
});

test("a person asks for it: at rest it is done at once, in a turn at its next step", async () => {
  const id = await newSession(client);
  expect(await compact(id)).toMatchObject({ status: "nothing_to_compact" });
  await talk(id);
  expect(await compact(id)).toMatchObject({
    status: "compacted",
    event: { type: "agent.thread_context_compacted", trigger: "manual" },
  });
  expect(await compact(id)).toMatchObject({ status: "nothing_to_compact" });
  expect((await client.beta.sessions.retrieve(id)).status).toBe("idle");

  const running = await newSession(client);
  await talk(running);
  service.model.enqueue({
    text: "I look.",
    tools: [{ name: "Glob", input: { pattern: "**/*" } }],
    chunkDelayMs: 100,
    match: { session: running, purpose: "main" },
  });
  const sent = await client.beta.sessions.events.send(running, { events: [say("look around")] });
  const asked = sent.data?.[0]?.id;
  expect(await compact(running)).toMatchObject({ status: "queued" });
  const events = await eventsUntil(client, running, "the end of the turn", (seen) =>
    seen.some((event) => event.type === "session.status_idle" && event.turn_id === asked),
  );
  const types = typesOf(events.filter((event) => event.turn_id === asked));
  expect(types.indexOf("agent.thread_context_compacted")).toBeGreaterThan(
    types.indexOf("agent.tool_result"),
  );
  expect(types.at(-2)).toBe("session.usage");
});

test("a request for it takes no body, and says when it was interrupted", async () => {
  const id = await newSession(client);
  for (const body of ["{", "[]", '{"x":1}']) {
    const response = await fetch(`${service.url}/v1/sessions/${id}/compact`, {
      method: "POST",
      headers: { authorization: `Bearer ${await service.token()}` },
      body,
    });
    expect(response.status).toBe(400);
  }
  await talk(id);
  service.model.enqueue({
    text: "slow ".repeat(100),
    chunkDelayMs: 50,
    match: { session: id, purpose: "compaction" },
  });
  const asked = compact(id);
  await until("the summary is asked for", () => requestsFor(service, id, "compaction").length > 0);
  await client.beta.sessions.events.send(id, { events: [{ type: "user.interrupt" }] });
  expect(await asked).toMatchObject({ status: "interrupted" });
  expect(await compactions(client, id)).toEqual([]);
});

test("a summary that has no end is none: what the limit cuts is gone on with, the rest is asked again", async () => {
  const id = await newSession(client);
  const match = { session: id, purpose: "compaction" };
  service.model.enqueue({ text: "All that", fault: { type: "unknown_stop" }, match });
  service.model.enqueue({
    text: "The first half of what was said",
    fault: { type: "max_tokens", after_chunks: 2 },
    match,
  });
  service.model.enqueue({ text: " and the second.", match });
  await talkUntilCompacted(client, id);
  // What it came to is what the next part, or the conversation, goes on from.
  const next = JSON.stringify([
    requestsFor(service, id, "compaction").at(-1)?.body,
    sentMessages(service.model, id).at(-1),
  ]);
  expect(next).toMatch(/<summary>\\nThe first[\w ]* and the second\.\\n/);
  expect(next).not.toContain("All that");
});

test("an interrupt of a compaction ends the turn, changes nothing, and the next message is answered", async () => {
  const id = await newSession(client);
  await talk(id);
  service.model.enqueue({
    text: "slow ".repeat(100),
    chunkDelayMs: 50,
    match: { session: id, purpose: "compaction" },
  });
  service.model.enqueue({
    fault: { type: "status", status: 400, message: "prompt is too long: 9 tokens > 8 maximum" },
    match: { session: id, purpose: "main" },
  });
  const stream = await client.beta.sessions.events.stream(id);
  await client.beta.sessions.events.send(id, { events: [say("go on")] });
  let interrupted = false;
  for await (const event of stream) {
    if (event.type === "session.error" && !interrupted) {
      interrupted = true;
      await client.beta.sessions.events.send(id, { events: [{ type: "user.interrupt" }] });
    }
    if (event.type === "session.status_idle") {
      expect(event.stop_reason.type).toBe("end_turn");
      break;
    }
  }
  expect(await compactions(client, id)).toEqual([]);
  expect(answers(await turn(client, id, "hello again"))).toHaveLength(1);
  expect(refused(service, id)).toHaveLength(1);
});
