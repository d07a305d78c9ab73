import { expect, test } from "vitest";
import {
  answers,
  idOf,
  newSession,
  type SessionEvent,
  say,
  sharedService,
  stored,
  turn,
  typesOf,
  untilIdle,
} from "./service.ts";

const service = await sharedService();
const client = await service.client();

test("the official SDK creates a session, streams a turn to idle and lists the same events", async () => {
  const id = await newSession(client);
  const streamed = await turn(client, id, "hello there");
  expect(typesOf(streamed)).toEqual([
    "user.message",
    "session.status_running",
    "span.model_request_start",
    "agent.message",
    "span.model_request_end",
    "session.usage",
    "session.status_idle",
  ]);
  expect(streamed.map((event) => event.seq)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(answers(streamed)[0]).toContain("You said: hello there");
  expect(await stored(client, id)).toEqual(streamed);
});

test("a stream that is cut at any event is resumed behind it, by number and by id", async () => {
  const id = await newSession(client);
  await turn(client, id, "remember that I like short answers");
  const all = await stored(client, id);
  expect(all.length).toBeGreaterThan(10);
  for (const [index, event] of all.entries()) {
    for (const cursor of [String(event.seq), idOf(event)]) {
      if (index === all.length - 1) continue;
      const resumed = await client.beta.sessions.events.stream(id, undefined, {
        headers: { "Last-Event-ID": cursor },
      });
      expect(await untilIdle(resumed)).toEqual(all.slice(index + 1));
    }
  }
});

test("a stream that is cut while the turn runs misses and repeats nothing", async () => {
  const id = await newSession(client);
  service.model.enqueue({
    text: "word ".repeat(60),
    chunkDelayMs: 5,
    match: { session: id, purpose: "main" },
  });
  await client.beta.sessions.events.send(id, { events: [say("talk to me")] });
  const seen: SessionEvent[] = [];
  let cursor = 0;
  while (seen.at(-1)?.type !== "session.status_idle") {
    const part = await client.beta.sessions.events.stream(id, undefined, {
      headers: { "Last-Event-ID": String(cursor) },
    });
    for await (const event of part) {
      seen.push(event as SessionEvent);
      cursor = (event as SessionEvent).seq ?? cursor;
      break;
    }
  }
  expect(seen).toEqual(await stored(client, id));
});

test("previews come only to who asked and end in the stored event of the same id", async () => {
  const id = await newSession(client);
  const plain = await client.beta.sessions.events.stream(id);
  const stream = await client.beta.sessions.events.stream(id, { event_deltas: ["agent.message"] });
  await client.beta.sessions.events.send(id, { events: [say("tell me something")] });
  const events = await untilIdle(stream);
  const started = events.flatMap((e) => (e.type === "event_start" ? [e.event.id] : []));
  const text = events.map((e) => (e.type === "event_delta" ? e.delta.content.text : "")).join("");
  const message = events.find((e) => e.type === "agent.message");
  expect(started).toEqual([message?.id]);
  expect(text).toBe(answers(events)[0]);
  expect(typesOf(await untilIdle(plain))).not.toContain("event_delta");
});

test("5,000 deltas at once arrive as the whole text, before the event that holds it", async () => {
  const id = await newSession(client);
  const text = "\u{1F30D} word ".repeat(5_000);
  service.model.enqueue({ text, match: { session: id, purpose: "main" } });
  const stream = await client.beta.sessions.events.stream(id, { event_deltas: ["agent.message"] });
  await client.beta.sessions.events.send(id, { events: [say("all of it")] });
  const events = await untilIdle(stream);
  const at = typesOf(events).indexOf("agent.message");
  expect(typesOf(events).lastIndexOf("event_delta")).toBeLessThan(at);
  const deltas = events.flatMap((e) => (e.type === "event_delta" ? [e.delta.content.text] : []));
  expect(deltas.join("")).toBe(text);
  expect(deltas.length).toBeLessThan(1_000);
});

test("a stream without a cursor begins with what comes next", async () => {
  const id = await newSession(client);
  const first = await turn(client, id, "one");
  const second = await turn(client, id, "two");
  expect(second[0]?.seq).toBe((first.at(-1)?.seq ?? 0) + 1);
});

test("events are paged in both orders and filtered by type and time", async () => {
  const id = await newSession(client);
  await turn(client, id, "one");
  const all = await stored(client, id);
  const paged: SessionEvent[] = [];
  for await (const event of client.beta.sessions.events.list(id, { limit: 2 })) paged.push(event);
  expect(paged).toEqual(all);
  const reversed: SessionEvent[] = [];
  for await (const e of client.beta.sessions.events.list(id, { limit: 3, order: "desc" })) {
    reversed.push(e);
  }
  expect(reversed).toEqual(all.toReversed());
  const some = await client.beta.sessions.events.list(id, {
    types: ["agent.message", "user.message"],
  });
  expect(typesOf(some.data)).toEqual(["user.message", "agent.message"]);
  const last = all.at(-1);
  const at = last && "processed_at" in last ? String(last.processed_at) : "";
  const later = await client.beta.sessions.events.list(id, { "created_at[gt]": at });
  expect(later.data).toEqual([]);
  const until = await client.beta.sessions.events.list(id, { "created_at[lte]": at });
  expect(until.data).toEqual(all);
});

test("sessions are listed newest first, paged without gap or repeat, and deleted for good", async () => {
  const own = await service.client({ user: "lister" });
  const made: string[] = [];
  for (let n = 0; n < 7; n++) made.push(await newSession(own));
  const listed: string[] = [];
  for await (const session of own.beta.sessions.list({ limit: 3 })) listed.push(session.id);
  expect(listed).toEqual(made.toReversed());
  const oldest: string[] = [];
  for await (const s of own.beta.sessions.list({ limit: 2, order: "asc" })) oldest.push(s.id);
  expect(oldest).toEqual(made);

  const [gone = ""] = made;
  expect(await own.beta.sessions.delete(gone)).toEqual({ id: gone, type: "session_deleted" });
  await expect(own.beta.sessions.retrieve(gone)).rejects.toMatchObject({ status: 404 });
  await expect(own.beta.sessions.delete(gone)).rejects.toMatchObject({ status: 404 });
  const left = await own.beta.sessions.list();
  expect(left.data.map((session) => session.id)).not.toContain(gone);
});

test("deleting a session ends its streams with session.deleted, and stops a running turn", async () => {
  const id = await newSession(client);
  const stream = await client.beta.sessions.events.stream(id);
  service.model.enqueue({
    text: "slow ".repeat(500),
    chunkDelayMs: 20,
    match: { session: id, purpose: "main" },
  });
  await client.beta.sessions.events.send(id, { events: [say("one"), say("two")] });
  const deletion = client.beta.sessions.delete(id);
  const types: string[] = [];
  for await (const event of stream) types.push(event.type);
  await deletion;
  // The second message is dropped: its turn never begins.
  expect(types.filter((type) => type === "session.status_running")).toHaveLength(1);
  expect(types.at(-1)).toBe("session.deleted");
  await expect(client.beta.sessions.events.send(id, { events: [say("x")] })).rejects.toMatchObject({
    status: 404,
  });
});

test("a session is what the SDK types say, with its memory's place added", async () => {
  const session = await client.beta.sessions.create({
    agent: { type: "agent_with_overrides", id: "default", model: "claude-haiku-5-5", system: "Hi" },
    environment_id: "shape",
    title: "A title",
    metadata: { project_root: "/workspace/shape/repo", colour: "blue" },
    initial_events: [say("first")],
  });
  expect(session).toMatchObject({
    type: "session",
    title: "A title",
    environment_id: "shape",
    metadata: { project_root: "/workspace/shape/repo", colour: "blue" },
    agent: { id: "default", model: { id: "claude-haiku-5-5" }, system: "Hi" },
    archived_at: null,
    auto_memory: { enabled: true, rule: "default" },
  });
  const replay = await client.beta.sessions.events.stream(session.id, undefined, {
    headers: { "Last-Event-ID": "0" },
  });
  expect(answers(await untilIdle(replay))[0]).toContain("You said: first");
  expect((await client.beta.sessions.retrieve(session.id)).status).toBe("idle");
  const request = service.model.requests.findLast(
    (one) => one.headers["x-memdir-session"] === session.id,
  );
  expect(request?.headers["x-memdir-purpose"]).toBe("main");
  expect(JSON.stringify(request?.body)).toContain("claude-haiku-5-5");
});

test("paths with and without ?beta=true and unknown beta headers are the same", async () => {
  const id = await newSession(client);
  const token = await service.token();
  const response = await fetch(`${service.url}/v1/sessions/${id}?beta=true`, {
    headers: { "x-api-key": token, "anthropic-beta": "something-new-2030-01-01" },
  });
  expect(response.status).toBe(200);
  expect(response.headers.get("request-id")).toMatch(/^req_/);
});
