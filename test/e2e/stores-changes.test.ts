// The feed of a store's changes, which is ours beside the SDK.

import { expect, test } from "vitest";
import { sharedService } from "./service.ts";
import { caller, collect, newStore } from "./stores-fixture.ts";

const service = await sharedService();
const client = await service.client();
const call = caller(service, await service.token());

const stores = () => client.beta.memoryStores;
const create = (store: string, path: string, content = path) =>
  stores().memories.create(store, { path, content });

test("the feed gives every change once, in order, from any number, and its history is dense", async () => {
  const store = await newStore(client);
  const empty = await call("GET", `/${store}/changes`);
  expect(empty.body).toEqual({ data: [], next: 0 });
  for (let n = 0; n < 7; n++) await create(store, `/${n}.md`);
  const seen: unknown[] = [];
  for (let after = 0; ; ) {
    const { body } = await call("GET", `/${store}/changes?after=${after}&limit=3`);
    if ((body.data as unknown[]).length === 0) break;
    seen.push(...(body.data as unknown[]));
    after = body.next as number;
  }
  const listed = await collect(stores().memoryVersions.list(store));
  expect(seen).toEqual(listed.toReversed());
  expect(seen.map((version) => (version as { seq: number }).seq)).toEqual([1, 2, 3, 4, 5, 6, 7]);
});

test("a waiting look is answered within a second of a write, and at once where there is news", async () => {
  const store = await newStore(client);
  const waiting = call("GET", `/${store}/changes?after=0&wait=30`);
  await new Promise((resolve) => setTimeout(resolve, 300));
  const written = Date.now();
  const made = await create(store, "/a.md");
  const { body } = await waiting;
  expect(Date.now() - written).toBeLessThan(1000);
  expect(body).toMatchObject({
    data: [{ memory_id: made.id, id: made.memory_version_id, seq: 1, content: null }],
    next: 1,
  });
  const asked = Date.now();
  expect((await call("GET", `/${store}/changes?wait=30`)).body.next).toBe(1);
  expect(Date.now() - asked).toBeLessThan(1000);
  const quiet = Date.now();
  expect((await call("GET", `/${store}/changes?after=1&wait=1`)).body).toEqual({
    data: [],
    next: 1,
  });
  expect(Date.now() - quiet).toBeGreaterThanOrEqual(950);
});

test("one follower of a busy store misses and repeats nothing", async () => {
  const store = await newStore(client);
  const writers = Array.from({ length: 4 }, async (_, writer) => {
    for (let n = 0; n < 10; n++) await create(store, `/${writer}/${n}.md`);
  });
  const seen: number[] = [];
  while (seen.length < 40) {
    const { body } = await call("GET", `/${store}/changes?after=${seen.length}&wait=10&limit=7`);
    seen.push(...(body.data as { seq: number }[]).map((version) => version.seq));
  }
  await Promise.all(writers);
  expect(seen).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
});

test("deleting a store ends the wait of who follows it", async () => {
  const store = await newStore(client);
  const waiting = call("GET", `/${store}/changes?wait=30`);
  await new Promise((resolve) => setTimeout(resolve, 300));
  await stores().delete(store);
  expect(await waiting).toMatchObject({
    status: 404,
    body: { error: { message: "There is no such memory store" } },
  });
});
