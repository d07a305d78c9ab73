// A session that is deleted while something of it runs or is due: it is stopped and dropped, and after
// the answer nothing of it comes any more.

import {
  env,
  evictDurableObject,
  runDurableObjectAlarm,
  runInDurableObject,
} from "cloudflare:test";
import { expect, test } from "vitest";
import { newId } from "../../../src/platform/ids.ts";
import { memdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { userOwner } from "../../../src/platform/objects/store-owner.ts";
import { readMeta, writeMeta } from "../rows/meta.ts";
import { eventually } from "../testing/eventually-fixture.ts";
import {
  endedTurn,
  inside,
  made,
  pause,
  session,
  withExtractions,
  withModel,
} from "../testing/extraction-life-fixture.ts";
import { model, server } from "../testing/fork-model-fixture.ts";
import { newMeta } from "../testing/meta-fixture.ts";
import { object, owner, stub } from "../testing/session-object-fixture.ts";

withExtractions();

test("a fork that is held is released after the answer: it writes nothing and holds no lease", async () => {
  const { id, store } = await due("I live in Turku.");
  const { asked, release } = holdFirst();
  const run = started(id, store);
  await eventually(asked);
  await destroyed(id);
  await isFree(store);
  release();
  await run;
  await isSilent(async () => expect(await versionsIn(store)).toEqual([]));
  // Of a queue both may come late, and twice.
  expect(await stub(id).extract({ store, upTo: 1 })).toEqual({ status: "none" });
  await stub(id).dropExtraction(1);
});

test("what was committed before stays, what was to follow does not come", async () => {
  const { id, store } = await due("I live in Turku, drink tea and own a dog.");
  // The first answer writes, the second is held.
  const { asked, release } = holdFirst(2);
  const run = started(id, store);
  await eventually(asked);
  const before = await versionsIn(store);
  expect(before).not.toEqual([]);
  await destroyed(id);
  release();
  await run;
  await isSilent(async () => expect(await versionsIn(store)).toEqual(before));
});

test("turns that are due make no memory, also where the deletion died half way", async () => {
  const whole = await due("I live in Turku.");
  await destroyed(whole.id);
  const half = await due("I drink tea.");
  await inside(half.id, ({ sql }) => writeMeta(sql, { ...readMeta(sql), deleting: true }));
  await evictDurableObject(object(half.id));
  await runInDurableObject(object(half.id), (instance, { storage }) => {
    Reflect.set(instance, "env", MODELLED());
    return storage.setAlarm(Date.now() + 60_000);
  });
  expect(await runDurableObjectAlarm(object(half.id))).toBe(true);
  expect(await stub(half.id).retrieve()).toMatchObject({ ok: false, code: "not_found" });
  made.splice(made.indexOf(half.id), 1);
  await isSilent(async () => {
    expect(model.requests).toEqual([]);
    for (const { store } of [whole, half]) expect(await versionsIn(store)).toEqual([]);
  });
});

test("an archiving that waits for its extraction begins no other one when the session is deleted", async () => {
  const { id, store } = await due("I live in Turku.");
  const { asked, release } = holdFirst();
  const archiving = stub(id).archive();
  await eventually(asked);
  await destroyed(id);
  release();
  expect(await archiving).toMatchObject({ ok: false, code: "not_found" });
  await isSilent(async () => {
    expect(await versionsIn(store)).toEqual([]);
    await isFree(store);
  });
});

test("the session that waits for the memory goes on when the one that held it is deleted", async () => {
  const first = await due("I live in Turku.");
  const second = await due("I drink tea.", first.id);
  expect(second.store).toBe(first.store);
  const { asked, release } = holdFirst();
  const run = started(first.id, first.store);
  await eventually(asked);
  expect(await stub(second.id).extract({ store: second.store, upTo: 1 })).toEqual({
    status: "waiting",
  });
  await destroyed(first.id);
  // Nobody asks on its behalf.
  await eventually(async () => (await versionsIn(second.store)).length > 0);
  release();
  await run;
  await eventually(() => inside(second.id, ({ sql }) => saved(sql)));
});

function saved(sql: SqlStorage): boolean {
  return sql.exec("SELECT 1 FROM events WHERE type = 'memory.saved'").toArray().length > 0;
}

const MODELLED = () => ({
  ...env,
  ANTHROPIC_API_KEY: "demo-model",
  ANTHROPIC_BASE_URL: "http://model.test",
});

/** A session with a turn that is due, which reaches the model; with the memory of another one. */
async function due(said: string, root?: string): Promise<{ id: string; store: string }> {
  const id = root === undefined ? await session() : await sessionOver(root);
  const store = await inside(id, (life) => {
    endedTurn(life.sql, said);
    return life.store;
  });
  await withModel(id);
  return { id, store };
}

async function sessionOver(root: string): Promise<string> {
  const id = newId("sesn");
  made.push(id);
  const meta = { ...newMeta(id), environmentId: root, projectRoot: `/workspace/${root}` };
  expect(await stub(id).create(meta, [])).toMatchObject({ ok: true });
  return id;
}

/** Holds the nth request to the model until it is released; later ones are answered at once. */
function holdFirst(nth = 1): { asked(): boolean; release(): void } {
  let requests = 0;
  const held = Promise.withResolvers<void>();
  server.atModel = async (answer) => {
    requests += 1;
    if (requests === nth) await held.promise;
    return answer();
  };
  return { asked: () => requests >= nth, release: () => held.resolve() };
}

function started(id: string, store: string): Promise<unknown> {
  return stub(id)
    .extract({ store, upTo: 1 })
    .catch(() => undefined);
}

async function destroyed(id: string): Promise<void> {
  expect(await stub(id).destroy()).toMatchObject({ ok: true });
  made.splice(made.indexOf(id), 1);
}

function memory(store: string) {
  return memdirStub(env, userOwner(owner), store);
}

async function versionsIn(store: string): Promise<string[]> {
  const versions = unwrap(await memory(store).versions({ limit: 100, withContent: false }));
  return versions.map(({ id }) => id);
}

async function isFree(store: string): Promise<void> {
  const reply = unwrap(await memory(store).acquire("extraction", "probe", 60_000));
  expect(reply.status).toBe("granted");
  if (reply.status === "granted") await memory(store).release("extraction", reply.token);
}

/** Holds now, and still does when what was on its way has had its time. */
async function isSilent(holds: () => Promise<void>): Promise<void> {
  await holds();
  const asked = model.requests.length;
  await pause(500);
  await holds();
  expect(model.requests).toHaveLength(asked);
}
