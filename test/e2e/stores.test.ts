// Memory stores through the official SDK alone, its types untouched.

import { randomUUID } from "node:crypto";
import type Anthropic from "@anthropic-ai/sdk";
import { expect, test } from "vitest";
import { sharedService } from "./service.ts";
import { collect, failure, newStore } from "./stores-fixture.ts";

const service = await sharedService();
const client = await service.client();

const stores = () => client.beta.memoryStores;
const create = (store: string, path: string, content = path) =>
  stores().memories.create(store, { path, content });

test("a store is made, found, changed and deleted as the SDK types it", async () => {
  const made = await stores().create({
    name: "Preferences 🙂",
    description: "What people like",
    metadata: { customer: "c1" },
  });
  expect(made).toEqual({
    type: "memory_store",
    id: expect.stringMatching(/^memstore_[1-9A-HJ-NP-Za-km-z]{24}$/),
    name: "Preferences 🙂",
    description: "What people like",
    metadata: { customer: "c1", kind: "custom" },
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    updated_at: made.created_at,
    archived_at: null,
  });
  expect(await stores().retrieve(made.id)).toEqual(made);
  const changed = await stores().update(made.id, {
    name: "Tastes",
    description: "",
    metadata: { customer: null, colour: "blue", kind: "custom" },
  });
  expect(changed).toMatchObject({
    name: "Tastes",
    description: "",
    metadata: { colour: "blue", kind: "custom" },
    created_at: made.created_at,
  });
  expect(changed.metadata).not.toHaveProperty("customer");
  expect(await stores().update(made.id, {})).toEqual(changed);
  expect(await stores().update(made.id, { name: null, metadata: null })).toEqual(changed);
  expect(await stores().delete(made.id)).toEqual({ id: made.id, type: "memory_store_deleted" });
  for (const call of [() => stores().retrieve(made.id), () => stores().delete(made.id)]) {
    expect(await failure(call())).toMatchObject({
      status: 404,
      type: "not_found_error",
      message: "There is no such memory store",
    });
  }
});

test("stores are listed newest first, in pages without gap, by time, archived ones only when asked", async () => {
  const own = await service.client({ user: "lister" });
  const made: Anthropic.Beta.BetaManagedAgentsMemoryStore[] = [];
  for (let n = 0; n < 5; n++) made.push(await own.beta.memoryStores.create({ name: `s${n}` }));
  const ids = made.map((store) => store.id);
  const [oldest = "", second = ""] = ids;
  const listed = async (query: object) =>
    (await collect(own.beta.memoryStores.list({ limit: 2, ...query }))).map((store) => store.id);
  expect(new Set(await listed({}))).toEqual(new Set(ids));
  expect(await listed({})).toHaveLength(5);
  const times = (await collect(own.beta.memoryStores.list())).map((store) => store.created_at);
  expect(times).toEqual(times.toSorted().toReversed());
  await own.beta.memoryStores.archive(second);
  expect(await listed({})).not.toContain(second);
  expect(await listed({ include_archived: true })).toHaveLength(5);
  await own.beta.memoryStores.delete(oldest);
  expect(await listed({ include_archived: true })).not.toContain(oldest);
  const last = made.at(-1)?.created_at ?? "";
  expect(await listed({ "created_at[gte]": last })).toContain(ids.at(-1));
  expect(await listed({ "created_at[lte]": "2020-01-01T00:00:00Z" })).toEqual([]);
});

test("memories are listed by prefix and depth, with folders rolled up, in pages without gap", async () => {
  const store = await newStore(client);
  const paths = [
    "/a.md",
    "/notes-archive/x.md",
    "/notes.md",
    "/notes/1.md",
    "/notes/2.md",
    "/notes/deep/3.md",
    "/notes/deep/er/4.md",
    "/notes/é.md",
    "/notes/\u{10ffff}/5.md",
    "/notes0.md",
    "/z/y/x/w.md",
  ];
  for (const path of paths.toReversed()) await create(store, path);
  const listed = async (query: object) =>
    (await collect(stores().memories.list(store, query))).map((item) =>
      item.type === "memory" ? item.path : `${item.path}*`,
    );
  for (const limit of [1, 2, 3, 100]) {
    expect(await listed({ limit })).toEqual(paths);
    expect(await listed({ limit, depth: 0, path_prefix: "/" })).toEqual(paths);
    expect(await listed({ limit, depth: 1 })).toEqual([
      "/a.md",
      "/notes-archive/*",
      "/notes.md",
      "/notes/*",
      "/notes0.md",
      "/z/*",
    ]);
    expect(await listed({ limit, path_prefix: "/notes/", depth: 1 })).toEqual([
      "/notes/1.md",
      "/notes/2.md",
      "/notes/deep/*",
      "/notes/é.md",
      "/notes/\u{10ffff}/*",
    ]);
    expect(await listed({ limit, path_prefix: "/notes/deep/" })).toEqual([
      "/notes/deep/3.md",
      "/notes/deep/er/4.md",
    ]);
  }
  expect(await listed({ path_prefix: "/nothing/" })).toEqual([]);
  const full = await stores().memories.list(store, { view: "full", path_prefix: "/z/" });
  expect(full.data).toMatchObject([{ content: "/z/y/x/w.md" }]);
  const basic = await stores().memories.list(store);
  expect(basic.data[0]).toMatchObject({ content: null, content_size_bytes: 5 });
});

test("pages are capped by view: 100 basic, 20 full", async () => {
  const store = await newStore(client);
  for (let n = 0; n < 23; n++) await create(store, `/${String(n).padStart(2, "0")}.md`);
  type Listed = { content?: string | null } | { type: "memory_prefix" };
  type Query = { limit?: number; view?: "basic" | "full" };
  type Pages = AsyncIterable<Listed> & PromiseLike<{ data: Listed[] }>;
  const lists: ((query: Query) => Pages)[] = [
    (query) => stores().memories.list(store, query),
    (query) => stores().memoryVersions.list(store, query),
  ];
  for (const list of lists) {
    expect((await list({ limit: 100 })).data).toHaveLength(23);
    expect((await list({})).data).toHaveLength(20);
    expect((await list({ view: "full" })).data).toHaveLength(20);
    const all = await collect(list({ view: "full", limit: 7 }));
    expect(all).toHaveLength(23);
    expect(all.every((item) => "content" in item && typeof item.content === "string")).toBe(true);
    for (const query of [{ limit: 101 }, { limit: 21, view: "full" as const }, { limit: 0 }]) {
      expect(await failure(Promise.resolve(list(query)))).toMatchObject({
        status: 400,
        type: "invalid_request_error",
        message: expect.stringMatching(/^limit: /),
      });
    }
  }
});

test("an archived store takes nothing new; it can be read, emptied, redacted and deleted", async () => {
  const store = await newStore(client);
  const at = { memory_store_id: store };
  const kept = await create(store, "/a.md", "1");
  await stores().memories.update(kept.id, { ...at, content: "2" });
  const archived = await stores().archive(store);
  expect(archived.archived_at).toMatch(/Z$/);
  expect(archived.updated_at).toBe(archived.archived_at);
  expect(await stores().archive(store)).toEqual(archived);
  for (const call of [
    () => create(store, "/b.md"),
    () => stores().memories.update(kept.id, { ...at, content: "3" }),
    () => stores().memories.update(kept.id, { ...at, path: "/c.md" }),
    () => stores().update(store, { name: "new" }),
  ]) {
    expect(await failure(call())).toMatchObject({
      status: 400,
      type: "invalid_request_error",
      message: expect.stringContaining("archived"),
    });
  }
  expect((await stores().memories.retrieve(kept.id, at)).content).toBe("2");
  expect(
    (await stores().memoryVersions.redact(kept.memory_version_id, at)).redacted_at,
  ).toBeTruthy();
  await stores().memories.delete(kept.id, at);
  expect(await stores().delete(store)).toMatchObject({ type: "memory_store_deleted" });
});

test("a store that is asked for twice with one Idempotency-Key is one store", async () => {
  const headers = { "Idempotency-Key": randomUUID() };
  const once = await stores().create({ name: "once" }, { headers });
  expect(await stores().create({ name: "once" }, { headers })).toEqual(once);
  expect(await failure(stores().create({ name: "twice" }, { headers }))).toMatchObject({
    status: 409,
    type: "conflict_error",
  });
  await stores().delete(once.id);
  expect(await failure(stores().create({ name: "once" }, { headers }))).toMatchObject({
    status: 409,
    message: expect.stringContaining("deleted"),
  });
});
