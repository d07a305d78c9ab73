// What is only noted is forgotten by a death: then it is done again, and nothing comes of that.

import { env, evictDurableObject, runInDurableObject } from "cloudflare:test";
import { afterEach, expect, test } from "vitest";
import { accountStub } from "../../../src/platform/objects/account-rpc.ts";
import { memdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { userOwner } from "../../../src/platform/objects/store-owner.ts";
import { readEvents } from "../rows/events.ts";
import { readExtraction } from "../rows/extraction-state.ts";
import { listedVersion } from "../rows/listed.ts";
import { readMeta } from "../rows/meta.ts";
import { listRuns } from "../rows/runs.ts";
import { unreportedUsage } from "../rows/usage.ts";
import { eventually } from "../testing/eventually-fixture.ts";
import { model, session, withModel, withNotes } from "../testing/notes-life-fixture.ts";
import { object, owner, stub } from "../testing/session-object-fixture.ts";
import type { Session } from "./session.ts";

withNotes();
afterEach(() => model.reset());

test("a death after a turn and its extraction forgets whom it told: they are told again, and know it", async () => {
  const id = await session();
  await withModel(id);
  const content = [{ type: "text" as const, text: "I live in Turku." }];
  unwrap(await stub(id).send([{ type: "user.message", content }], undefined));
  await eventually(async () => unwrap(await stub(id).retrieve()).status === "idle");
  const store = await inside(id, (sql) => storeOf(sql));
  await eventually(async () => (await stub(id).extract({ store })).status === "none");
  const before = await told(id);
  await eventually(async () => (await told(id)).requests === 2);
  const known = await told(id);
  expect(known.events).toEqual(before.events);

  // The alarm, which would take it to disk, has not come.
  await evictDurableObject(object(id));
  const forgotten = await inside(id, (sql) => ({
    lease: readExtraction(sql).lease,
    listed: listedVersion(sql),
    unreported: unreportedUsage(sql).length,
  }));
  expect(forgotten.lease).not.toBeNull();
  expect(forgotten.unreported).toBeGreaterThan(0);

  // A queue message that comes late, or twice, and a look at it.
  expect((await stub(id).extract({ store })).status).toBe("done");
  expect((await stub(id).extract({ store })).status).toBe("none");
  unwrap(await stub(id).retrieve());
  await eventually(() => inside(id, (sql) => unreportedUsage(sql).length === 0));
  expect(await told(id)).toEqual(known);
  expect(model.requests.map(({ purpose }) => purpose)).toEqual(["main", "extraction"]);
  await inside(id, (sql) => {
    expect(readExtraction(sql)).toMatchObject({ cursor: 1, due: 0, lease: null, resendAt: null });
    expect(listRuns(sql, "extraction", { limit: 10 })).toMatchObject([{ iterations: 1 }]);
  });
  const memory = memdirStub(env, userOwner(owner), store);
  expect(unwrap(await memory.acquire("extraction", "probe", 1_000)).status).toBe("granted");

  // Now it is on disk, whoever comes next.
  await evictDurableObject(object(id));
  await inside(id, (sql) => {
    expect(readExtraction(sql).lease).toBeNull();
    expect(unreportedUsage(sql)).toEqual([]);
    expect(listedVersion(sql)).toBeGreaterThan(forgotten.listed);
  });
});

/** What the session's account knows of it, and what its clients do. */
async function told(id: string) {
  const account = accountStub(env, owner);
  const totals = await account.usage({ sessionId: id });
  const { state } =
    (await account.list({ limit: 100, order: "asc" })).find((row) => row.id === id) ?? {};
  return {
    requests: totals.reduce((sum, { requests }) => sum + requests, 0),
    totals,
    state,
    events: await inside(id, (sql) => readEvents(sql, { limit: 100 }).map(({ json }) => json)),
  };
}

function storeOf(sql: SqlStorage): string {
  const { memory } = readMeta(sql);
  return memory.enabled ? memory.storeId : "";
}

function inside<T>(id: string, work: (sql: SqlStorage) => T): Promise<T> {
  return runInDurableObject<Session, T>(object(id), (_instance, { storage }) => work(storage.sql));
}
