import { expect, test } from "vitest";
import {
  answers,
  newSession,
  type SessionEvent,
  say,
  sentMessages,
  sharedService,
  stored,
  turn,
  typesOf,
  until,
  untilIdle,
} from "./service.ts";

const service = await sharedService();
const client = await service.client();

const stop = { type: "user.interrupt" as const };
const interrupt = (id: string) => client.beta.sessions.events.send(id, { events: [stop] });

test("an interrupt ends the running turn; the words so far and a mark stay in the history", async () => {
  const id = await newSession(client);
  const events = await interruptedTalk(id, 5);
  const idle = events.at(-1);
  expect(idle?.type === "session.status_idle" && idle.stop_reason.type).toBe("end_turn");
  const [said = ""] = answers(events);
  expect(said).toMatch(/^(word )+/);
  expect(said.length).toBeLessThan(900);
  await turn(client, id, "go on please");
  const last = sentMessages(service.model, id).at(-1) ?? [];
  expect(last.map((message) => message.role)).toEqual([
    "user",
    "user",
    "assistant",
    "user",
    "user",
  ]);
  expect(JSON.stringify(last[3])).toContain("interrupted");
});

test("a request that was broken off counts in the account, with what it had said", async () => {
  const id = await newSession(client);
  await interruptedTalk(id, 20);
  const end = (await stored(client, id)).find((event) => event.type === "span.model_request_end");
  if (end?.type !== "span.model_request_end") throw new Error("The request has no end");
  const { input_tokens, cache_creation_input_tokens, output_tokens } = end.model_usage;
  expect(end.is_error).toBe(true);
  expect(input_tokens + (cache_creation_input_tokens ?? 0)).toBeGreaterThan(500);
  expect(output_tokens).toBeGreaterThan(20);
  await expect
    .poll(() => client.get(`/v1/usage?session_id=${id}`), { timeout: 20_000 })
    .toMatchObject({ data: [{ purpose: "main", requests: 1, input_tokens, output_tokens }] });
});

test("twenty rapid stops and messages: each message is answered by itself, none is hit by a stop", async () => {
  const id = await newSession(client);
  const instead: string[] = [];
  for (let n = 0; n < 20; n++) {
    service.model.enqueue({
      text: "long ".repeat(100),
      chunkDelayMs: 5,
      match: { session: id, contains: `start ${n}.` },
    });
    await client.beta.sessions.events.send(id, { events: [say(`start ${n}.`)] });
    await interrupt(id);
    const sent = await client.beta.sessions.events.send(id, { events: [say(`do ${n} instead`)] });
    instead.push(sent.data?.[0]?.id ?? "");
    await until(`the session is idle after pair ${n}`, async () => {
      const session = await client.beta.sessions.retrieve(id);
      return session.status === "idle";
    });
  }
  // By turn, not by words: a turn that was stopped before its call leaves its script to the next.
  const answered = (await stored(client, id)).flatMap((event) =>
    event.type === "agent.message" ? [event.turn_id ?? ""] : [],
  );
  expect(answered.filter((turnId) => instead.includes(turnId))).toEqual(instead);
  expect((await client.beta.sessions.retrieve(id)).status).toBe("idle");
});

test("an interrupt of an idle session changes nothing but the log", async () => {
  const id = await newSession(client);
  await turn(client, id, "hello");
  await interrupt(id);
  expect((await stored(client, id)).at(-1)?.type).toBe("user.interrupt");
  expect((await client.beta.sessions.retrieve(id)).status).toBe("idle");
  expect(answers(await turn(client, id, "hello again"))[0]).toContain("hello again");
});

test("waiting messages are not hit: the stop ends the running turn and the next one runs", async () => {
  const id = await newSession(client);
  service.model.enqueue({
    text: "long ".repeat(200),
    chunkDelayMs: 10,
    match: { session: id, contains: "first" },
  });
  const stream = await client.beta.sessions.events.stream(id);
  await client.beta.sessions.events.send(id, { events: [say("first"), say("second")] });
  await new Promise((resolve) => setTimeout(resolve, 300));
  await interrupt(id);
  const events = await untilIdle(stream);
  expect(answers(events).at(-1)).toContain("second");
  expect(typesOf(events).filter((type) => type === "session.status_idle")).toHaveLength(1);
});

test("whenever the stop comes in a turn with tools, the next request is valid and effects are told truly", {
  timeout: 120_000,
}, async () => {
  for (let wait = 0; wait < 400; wait += 25) {
    const workspace = `stop-${wait}`;
    const id = await newSession(client, workspace);
    const path = `/workspace/${workspace}/a.md`;
    service.model.enqueue({
      text: "I write three files. ",
      chunkDelayMs: 8,
      tools: [
        { name: "Write", input: { file_path: path, content: "one" } },
        { name: "Glob", input: { pattern: "*.md" } },
        { name: "Edit", input: { file_path: path, old_string: "one", new_string: "two" } },
      ],
      match: { session: id, purpose: "main" },
    });
    service.model.enqueue({
      text: "done ".repeat(50),
      chunkDelayMs: 5,
      match: { session: id, purpose: "main" },
    });
    const stream = await client.beta.sessions.events.stream(id);
    await client.beta.sessions.events.send(id, { events: [say("write")] });
    await new Promise((resolve) => setTimeout(resolve, wait));
    await interrupt(id);
    const events = await untilIdle(stream);
    const calls = events.filter((event) => event.type === "agent.tool_use");
    const results = events.filter((event) => event.type === "agent.tool_result");
    expect(results).toHaveLength(calls.length);
    const edited = results[2]?.type === "agent.tool_result" && results[2].is_error === false;
    const wrote = results.some((e) => e.type === "agent.tool_result" && e.is_error === false);

    const before = service.model.requests.length;
    const next = await turn(client, id, "hello again");
    expect(typesOf(next)).not.toContain("session.error");
    const statuses = service.model.requests.slice(before).map((request) => request.status);
    expect(statuses.every((status) => status === 200)).toBe(true);
    const response = await fetch(`${service.url}/v1/workspaces/${workspace}/files/a.md`, {
      headers: { authorization: `Bearer ${await service.token()}` },
    });
    const text = response.status === 200 ? await response.text() : "nothing";
    if (edited) expect(text).toBe("two");
    if (!wrote) expect(text).toBe("nothing");
  }
});

/** A turn that is interrupted when so many pieces of its answer have come; its events. */
async function interruptedTalk(id: string, pieces: number): Promise<SessionEvent[]> {
  service.model.enqueue({
    text: "word ".repeat(200),
    chunkDelayMs: 10,
    match: { session: id, purpose: "main" },
  });
  const stream = await client.beta.sessions.events.stream(id, { event_deltas: ["agent.message"] });
  await client.beta.sessions.events.send(id, { events: [say("talk")] });
  const events: SessionEvent[] = [];
  for await (const event of stream) {
    events.push(event);
    const heard = typesOf(events).filter((type) => type === "event_delta").length;
    if (event.type === "session.status_idle") break;
    if (typesOf([event])[0] === "event_delta" && heard === pieces) await interrupt(id);
  }
  return events;
}
