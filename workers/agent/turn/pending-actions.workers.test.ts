// Calls that wait, from rows as a crash may have left them.

import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, expect, test } from "vitest";
import { newId } from "../../../src/platform/ids.ts";
import { keepNoted, transaction } from "../../../src/platform/state.ts";
import type { CallAnswer } from "../../../src/shared/loop/pending-action.ts";
import type { ClientEvent } from "../contract/client-events.ts";
import { appendEvent } from "../rows/events.ts";
import { noteListed } from "../rows/listed.ts";
import type { NewMeta } from "../rows/meta.ts";
import { readMeta, writeMeta } from "../rows/meta.ts";
import { addTurn, changeTurn, currentTurn } from "../rows/turns.ts";
import { listedState } from "../session/session-shape.ts";
import { eventually } from "../testing/eventually-fixture.ts";
import { newMeta } from "../testing/meta-fixture.ts";
import { object, stub } from "../testing/session-object-fixture.ts";
import { callRow, messageRow, progressRow } from "../testing/thread-rows-fixture.ts";

const made: string[] = [];
const HOUR_MS = 60 * 60 * 1000;

afterEach(async () => {
  for (const id of made.splice(0)) await stub(id).destroy();
});

test("an instance that is gone still waits: idle, the same calls, until the same time", async () => {
  const id = await waiting();
  await evictDurableObject(object(id));
  expect(await stub(id).retrieve()).toMatchObject({ ok: true, value: { status: "idle" } });
  await inside(id, async (sql, state) => {
    expect(row(sql, "sevt_ask")).toMatchObject({ state: "open", until: 7 * HOUR_MS + BASE });
    expect(await state.storage.getAlarm()).toBe(6 * HOUR_MS + BASE);
  });
});

test("answers that were kept before a crash are carried out after it, once each", async () => {
  const id = await waiting();
  await inside(id, (sql) => {
    answerRow(sql, "sevt_ask", { type: "deny", message: "no" });
    answerRow(sql, "sevt_map", { type: "result", content: "42", isError: false });
    sql.exec("UPDATE turns SET resume_at = ?", Date.now());
  });
  await evictDurableObject(object(id));
  await stub(id).retrieve();
  const results = await resultMessage(id);
  expect(results).toEqual([
    {
      type: "tool_result",
      tool_use_id: "a",
      content: expect.stringMatching(/denied.*"no"/),
      is_error: true,
    },
    { type: "tool_result", tool_use_id: "b", content: "42" },
  ]);
  await inside(id, (sql) => {
    expect([row(sql, "sevt_ask"), row(sql, "sevt_map")]).toMatchObject([
      { state: "deny", answer: null },
      { state: "result", answer: null },
    ]);
    const told = sql.exec("SELECT body FROM events WHERE type = 'agent.tool_result'").toArray();
    expect(told).toHaveLength(1);
  });
});

test("the alarm ends a wait whose time is over, and gives the others theirs", async () => {
  const id = await waiting();
  await inside(id, async (sql, state) => {
    sql.exec("UPDATE pending_actions SET until = ? WHERE event_id = 'sevt_map'", Date.now() - 1);
    sql.exec("UPDATE turns SET resume_at = ?", Date.now() - 1);
    await state.storage.setAlarm(Date.now() + 60_000);
  });
  await evictDurableObject(object(id));
  await runDurableObjectAlarm(object(id));
  await comesToPass(id, (sql) => row(sql, "sevt_map")?.state === "timeout");
  await comesToPass(id, (sql) => resumeAt(sql) === 7 * HOUR_MS + BASE);
  expect(await stub(id).retrieve()).toMatchObject({ ok: true, value: { status: "idle" } });
  await inside(id, (sql) => {
    const [idle] = sql
      .exec<{ body: string }>(
        "SELECT body FROM events WHERE type = 'session.status_idle' ORDER BY seq DESC LIMIT 1",
      )
      .toArray();
    expect(JSON.parse(idle?.body ?? "{}").stop_reason).toEqual({
      type: "requires_action",
      event_ids: ["sevt_ask"],
    });
  });
});

test("an answer after the deadline is refused also before the alarm has come", async () => {
  const id = await waiting();
  await inside(id, (sql) => {
    sql.exec("UPDATE pending_actions SET until = ? WHERE event_id = 'sevt_map'", Date.now() - 1);
  });
  const late: ClientEvent = { type: "user.custom_tool_result", custom_tool_use_id: "sevt_map" };
  expect(await stub(id).send([late], undefined)).toMatchObject({
    ok: false,
    code: "invalid_request",
    message: expect.stringMatching(/sevt_map.*time limit/),
  });
});

test("an interrupt that was kept before a crash ends the turn after it", async () => {
  const id = await waiting();
  await inside(id, (sql) => {
    sql.exec("UPDATE turns SET interrupted = 1");
  });
  await evictDurableObject(object(id));
  await stub(id).retrieve();
  const results = await resultMessage(id);
  expect(results).toMatchObject([{ is_error: true }, { is_error: true }]);
  await comesToPass(
    id,
    (sql) => sql.exec("SELECT 1 FROM turns WHERE status = 'done'").toArray().length === 1,
  );
});

test("a turn that comes to a wait in an archived session ends: nobody could answer", async () => {
  const id = await waiting();
  await inside(id, (sql) => {
    sql.exec("UPDATE turns SET resume_at = NULL");
    writeMeta(sql, { ...readMeta(sql), archivedAt: Date.now() });
  });
  await evictDurableObject(object(id));
  await stub(id).retrieve();
  expect(await resultMessage(id)).toMatchObject([{ is_error: true }, { is_error: true }]);
  await comesToPass(
    id,
    (sql) => sql.exec("SELECT 1 FROM turns WHERE status = 'done'").toArray().length === 1,
  );
});

const BASE = Date.now();

/** A session whose one turn waits: to be allowed a Write (7 h), and for the client's Map (6 h). */
async function waiting(): Promise<string> {
  const map = { name: "Map", description: "m", input_schema: { type: "object" } };
  const id = await session({ permissionMode: "ask", clientTools: [map] });
  await inside(id, (sql, { storage }) => {
    const input = { file_path: "/workspace/w/a.md", content: "x" };
    const calls = [
      { type: "tool_use", id: "a", name: "Write", input },
      { type: "tool_use", id: "b", name: "Map", input: {} },
    ];
    const words = [{ type: "text" as const, text: "go" }];
    messageRow(sql, "user", { role: "user", content: words });
    messageRow(sql, "model", { role: "assistant", content: calls });
    const said = appendEvent(sql, { type: "user.message", content: words }, BASE);
    addTurn(sql, said);
    changeTurn(sql, 1, { status: "running", resumeAt: 6 * HOUR_MS + BASE });
    progressRow(sql, 1);
    for (const [call, event, kind, hours] of [
      [calls[0], "sevt_ask", "approval", 7],
      [calls[1], "sevt_map", "client", 6],
    ] as const) {
      const callId = call?.id ?? "";
      const permission = kind === "client" ? "client" : "ask";
      callRow(sql, callId, call, { event_id: event, permission });
      sql.exec(
        `INSERT INTO pending_actions (event_id, turn, call_id, kind, announced_at, until)
         VALUES (?, 1, ?, ?, ?, ?)`,
        event,
        callId,
        kind,
        BASE,
        hours * HOUR_MS + BASE,
      );
    }
    // The account knows of it, so that no alarm is set to tell it.
    noteListed(sql, listedState(sql, readMeta(sql), currentTurn(sql)).version);
    transaction(storage, () => keepNoted(sql));
  });
  return id;
}

async function session(fields: Partial<NewMeta> = {}): Promise<string> {
  const id = newId("sesn");
  made.push(id);
  expect(await stub(id).create({ ...newMeta(id), ...fields }, [])).toMatchObject({ ok: true });
  return id;
}

function answerRow(sql: SqlStorage, eventId: string, answer: CallAnswer): void {
  sql.exec(
    "UPDATE pending_actions SET state = ?, answer = ? WHERE event_id = ?",
    answer.type,
    JSON.stringify(answer),
    eventId,
  );
}

function row(sql: SqlStorage, eventId: string) {
  return sql.exec("SELECT * FROM pending_actions WHERE event_id = ?", eventId).toArray()[0];
}

function resumeAt(sql: SqlStorage): unknown {
  return sql.exec("SELECT resume_at FROM turns").one().resume_at;
}

/** The message with the results of the calls, when it is there. */
async function resultMessage(id: string): Promise<unknown> {
  let content: unknown;
  await comesToPass(id, (sql) => {
    const [found] = sql
      .exec<{ body: string }>("SELECT body FROM messages WHERE body LIKE '%tool_result%'")
      .toArray();
    content = found && JSON.parse(found.body).content;
    return content !== undefined;
  });
  return content;
}

function inside(
  id: string,
  work: (sql: SqlStorage, state: DurableObjectState) => void | Promise<void>,
): Promise<void> {
  return runInDurableObject(object(id), (_instance, state) => work(state.storage.sql, state));
}

function comesToPass(id: string, holds: (sql: SqlStorage) => boolean): Promise<void> {
  return eventually(async () => {
    let held = false;
    await inside(id, (sql) => {
      held = holds(sql);
    });
    return held;
  });
}
