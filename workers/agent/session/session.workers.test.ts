// The session object from rows as a crash, a defect or an older version may have left them.

import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, expect, test } from "vitest";
import { newId } from "../../../src/platform/ids.ts";
import type { ClientEvent } from "../contract/client-events.ts";
import { readMeta, writeMeta } from "../rows/meta.ts";
import { eventually } from "../testing/eventually-fixture.ts";
import { newMeta } from "../testing/meta-fixture.ts";
import { eventsOf, object, stub } from "../testing/session-object-fixture.ts";
import { messageRow, progressRow } from "../testing/thread-rows-fixture.ts";

const made: string[] = [];

afterEach(async () => {
  for (const id of made.splice(0)) await stub(id).destroy();
});

test("a turn whose outcome is on disk only ends: the model is not asked again", async () => {
  const id = await session([]);
  await inside(id, (sql) => {
    turnRow(sql, { status: "running" });
    progressRow(sql, 1, { reason: "end_turn" });
    messageRow(sql, "model", words("assistant"));
  });
  await evict(id);
  await stub(id).retrieve();
  const types = await untilIdle(id);
  expect(types).toEqual(["user.message", "session.usage", "session.status_idle"]);
});

test("a request that a crash left open is closed as failed before the next one starts", async () => {
  const id = await session([]);
  await inside(id, (sql) => turnRow(sql, { status: "running", span: "sevt_open" }));
  await evict(id);
  await stub(id).retrieve();
  const events = await untilIdle(id, false);
  const [, end, start] = events;
  expect(end).toMatchObject({
    type: "span.model_request_end",
    model_request_start_id: "sevt_open",
    is_error: true,
  });
  expect(start).toMatchObject({ type: "span.model_request_start" });
});

test("the alarm finds a turn that nobody asks for", async () => {
  const id = await session([]);
  await inside(id, async (sql, state) => {
    turnRow(sql, { status: "running" });
    progressRow(sql, 0, { reason: "end_turn" });
    await state.storage.setAlarm(Date.now() + 60_000);
  });
  await evict(id);
  expect(await runDurableObjectAlarm(object(id))).toBe(true);
  await inside(id, async (sql) => {
    await eventually(() => typesOf(sql).includes("session.status_idle"));
  });
});

test("rows that cannot be read are placeholders: the session opens, lists and goes on", async () => {
  const id = await session([say("hello")]);
  await untilIdle(id);
  await inside(id, (sql) => {
    messageRow(sql, "model", "{not json");
    messageRow(sql, "user", { role: "robot" });
    messageRow(sql, "whatever", words("user"));
    sql.exec("INSERT INTO events (id, type, at, body) VALUES ('sevt_x', 'odd', 1, '{\"cut\"')");
  });
  await evict(id);
  expect(await stub(id).retrieve()).toMatchObject({ ok: true, value: { id, status: "idle" } });
  expect((await eventsOf(id)).at(-1)).toMatchObject({ type: "odd", unreadable: true });
  const reply = await stub(id).send([say("again")], undefined);
  expect(reply.ok).toBe(true);
  await eventually(async () => {
    const status = await stub(id).retrieve();
    return status.ok && status.value.status === "idle";
  });
});

test("a deletion that died half way is finished by the alarm, and meanwhile nothing is shown", async () => {
  const id = await session([]);
  await inside(id, async (sql, state) => {
    writeMeta(sql, { ...readMeta(sql), deleting: true });
    await state.storage.setAlarm(Date.now() + 60_000);
  });
  await evict(id);
  expect(await stub(id).retrieve()).toMatchObject({ ok: false, code: "not_found" });
  expect(await stub(id).send([say("x")], undefined)).toMatchObject({
    ok: false,
    code: "not_found",
  });
  await runDurableObjectAlarm(object(id));
  await inside(id, (sql) => {
    expect(sql.exec("SELECT name FROM sqlite_master WHERE name = 'state'").toArray()).toEqual([]);
  });
});

test("an object that was asked for a session that is not its own keeps nothing", async () => {
  const id = newId("sesn");
  expect(await stub(id).retrieve()).toMatchObject({ ok: false, code: "not_found" });
  expect(await stub(id).destroy()).toMatchObject({ ok: false, code: "not_found" });
  await inside(id, async (sql, state) => {
    expect(sql.exec("SELECT name FROM sqlite_master WHERE name = 'state'").toArray()).toEqual([]);
    expect(await state.storage.getAlarm()).toBe(null);
  });
});

test("an interrupt that was acknowledged holds after a crash", async () => {
  const id = await session([]);
  await inside(id, (sql) => turnRow(sql, { status: "running", interrupted: 1 }));
  await evict(id);
  await stub(id).retrieve();
  const types = await untilIdle(id);
  expect(types).toEqual(["user.message", "session.usage", "session.status_idle"]);
  await inside(id, (sql) => {
    const { body } = sql
      .exec<{ body: string }>("SELECT body FROM messages ORDER BY n DESC LIMIT 1")
      .one();
    expect(body).toContain("interrupted");
  });
});

test("an interrupt that finds a queued turn just begun ends it, and says so on disk", async () => {
  const id = await session([]);
  await inside(id, (sql) => turnRow(sql, { status: "queued" }));
  await evict(id);
  // The object that is made for this request begins the turn, and its row still says that it is queued.
  expect(await stub(id).send([{ type: "user.interrupt" }], undefined)).toMatchObject({ ok: true });
  await untilIdle(id);
  await inside(id, (sql) => {
    const turn = sql.exec("SELECT status, interrupted, outcome FROM turns").toArray();
    expect(turn).toEqual([{ status: "done", interrupted: 1, outcome: '{"reason":"interrupted"}' }]);
  });
});

test("what is larger than a row is refused whole", async () => {
  const id = await session([]);
  const reply = await stub(id).send([say("ok"), say("x".repeat(1_950_000))], undefined);
  expect(reply).toMatchObject({ ok: false, code: "too_large" });
  expect(await eventsOf(id)).toEqual([]);
});

/** A session of its own; without events it rests. */
async function session(events: ClientEvent[]): Promise<string> {
  const id = newId("sesn");
  made.push(id);
  expect(await stub(id).create(newMeta(id), events)).toMatchObject({ ok: true });
  return id;
}

function inside(
  id: string,
  work: (sql: SqlStorage, state: DurableObjectState) => void | Promise<void>,
): Promise<void> {
  return runInDurableObject(object(id), (_instance, state) => work(state.storage.sql, state));
}

async function evict(id: string): Promise<void> {
  await evictDurableObject(object(id));
}

function turnRow(sql: SqlStorage, fields: Record<string, string | number>): void {
  sql.exec(
    "INSERT INTO events (id, type, at, body) VALUES ('sevt_first', 'user.message', 1, ?)",
    '{"id":"sevt_first","type":"user.message","content":[]}',
  );
  messageRow(sql, "user", words("user"));
  const row = { n: 1, event_id: "sevt_first", event_seq: 1, started_at: 1, ...fields };
  const names = Object.keys(row);
  sql.exec(
    `INSERT INTO turns (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`,
    ...Object.values(row),
  );
}

function words(role: string): string {
  return JSON.stringify({ role, content: [{ type: "text", text: "words" }] });
}

function say(text: string): ClientEvent {
  return { type: "user.message", content: [{ type: "text", text }] };
}

function typesOf(sql: SqlStorage): string[] {
  return sql
    .exec<{ type: string }>("SELECT type FROM events ORDER BY seq")
    .toArray()
    .map((row) => row.type);
}

function untilIdle(id: string): Promise<string[]>;
function untilIdle(id: string, types: false): Promise<unknown[]>;
async function untilIdle(id: string, types = true): Promise<unknown[]> {
  let events: unknown[] = [];
  await eventually(async () => {
    events = await eventsOf(id);
    return events.some((event) => typeOf(event) === "session.status_idle");
  });
  return types ? events.map(typeOf) : events;
}

function typeOf(event: unknown): string {
  return String(Reflect.get(Object(event), "type"));
}
