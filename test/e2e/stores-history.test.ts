// What is ours beside the SDK: restore, rewind, and a list that heals.

import { expect, test } from "vitest";
import { sharedService } from "./service.ts";
import {
  caller,
  collect,
  failure,
  newStore,
  objectsOf,
  type StoreObject,
  sha256,
} from "./stores-fixture.ts";

const service = await sharedService();
const client = await service.client();
const call = caller(service, await service.token());

const stores = () => client.beta.memoryStores;
const create = (store: string, path: string, content = path) =>
  stores().memories.create(store, { path, content });
const update = (store: string, id: string, change: { content?: string; path?: string }) =>
  stores().memories.update(id, { memory_store_id: store, ...change });
const restore = (store: string, version: string) =>
  call("POST", `/${store}/memory_versions/${version}/restore`, {});

/** The store's memories, as people would see them. */
async function contents(store: string): Promise<Record<string, string>> {
  const found = await collect(stores().memories.list(store, { view: "full" }));
  return Object.fromEntries(
    found.flatMap((item) => (item.type === "memory" ? [[item.path, item.content ?? ""]] : [])),
  );
}

/** A time that lies between what was done before and what is done after. */
async function now(): Promise<string> {
  await new Promise((resolve) => setTimeout(resolve, 5));
  const time = new Date().toISOString();
  await new Promise((resolve) => setTimeout(resolve, 5));
  return time;
}

async function writeAs(store: StoreObject, sessionId: string, path: string, text: string) {
  const reply = await store.write({
    path,
    bytes: new TextEncoder().encode(text),
    actor: { type: "session", sessionId, by: "agent" },
  });
  expect(reply).toMatchObject({ ok: true, value: { status: "written" } });
}

test("a restored version is the memory's content again, under its id, as a new version", async () => {
  const store = await newStore(client);
  const made = await create(store, "/a.md", "first");
  await update(store, made.id, { content: "second", path: "/b.md" });
  const back = await restore(store, made.memory_version_id);
  expect(back).toMatchObject({
    status: 200,
    body: {
      type: "memory",
      id: made.id,
      memory_store_id: store,
      path: "/a.md",
      content: null,
      content_sha256: sha256("first"),
    },
  });
  expect(await contents(store)).toEqual({ "/a.md": "first" });
  expect(await collect(stores().memoryVersions.list(store))).toHaveLength(3);
  // It is so already: nothing new.
  expect((await restore(store, made.memory_version_id)).body).toEqual(back.body);
  expect(await collect(stores().memoryVersions.list(store))).toHaveLength(3);
});

test("a deleted memory comes back under its id; onto a path that is taken it does not", async () => {
  const store = await newStore(client);
  const made = await create(store, "/a.md", "text");
  await stores().memories.delete(made.id, { memory_store_id: store });
  expect(await restore(store, made.memory_version_id)).toMatchObject({
    status: 200,
    body: { id: made.id, path: "/a.md" },
  });
  await stores().memories.delete(made.id, { memory_store_id: store });
  for (const path of ["/a.md", "/a.md/below.md"]) {
    const other = await create(store, path, "other");
    const refused = await restore(store, made.memory_version_id);
    expect(refused).toMatchObject({
      status: 409,
      body: {
        error: {
          type: "memory_path_conflict_error",
          conflicting_memory_id: other.id,
          conflicting_path: path,
        },
      },
    });
    expect(refused.headers.get("x-should-retry")).toBe("false");
    expect(await contents(store)).toEqual({ [path]: "other" });
    await stores().memories.delete(other.id, { memory_store_id: store });
  }
});

test("a path that the memory itself and another one lie below is taken", async () => {
  const store = await newStore(client);
  const made = await create(store, "/a", "text");
  await update(store, made.id, { path: "/a/b" });
  const other = await create(store, "/a/c");
  expect(await restore(store, made.memory_version_id)).toMatchObject({
    status: 409,
    body: { error: { conflicting_memory_id: other.id } },
  });
});

test("a deletion and a redacted version cannot be restored, and the reason is told", async () => {
  const store = await newStore(client);
  const made = await create(store, "/a.md", "text");
  await stores().memories.delete(made.id, { memory_store_id: store });
  const [deletion] = (await stores().memoryVersions.list(store)).data;
  expect(await restore(store, deletion?.id ?? "")).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringMatching(/deletion.*version before/) } },
  });
  await stores().memoryVersions.redact(made.memory_version_id, { memory_store_id: store });
  expect(await restore(store, made.memory_version_id)).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringMatching(/redacted/) } },
  });
  expect(await restore(store, "memver_222222222222222222222222")).toMatchObject({
    status: 404,
    body: { error: { message: "There is no such memory version" } },
  });
});

test("a store is rewound to a time: changes, renames, deletions and new memories", async () => {
  const store = await newStore(client);
  const kept = await create(store, "/kept.md");
  const changed = await create(store, "/changed.md", "old");
  const moved = await create(store, "/moved.md");
  const gone = await create(store, "/gone.md");
  const then = await contents(store);
  const time = await now();
  await update(store, changed.id, { content: "new" });
  await update(store, moved.id, { path: "/elsewhere.md" });
  await stores().memories.delete(gone.id, { memory_store_id: store });
  await create(store, "/gone.md", "somebody new at the old place");
  await create(store, "/moved.md/below.md");
  const rewound = await call("POST", `/${store}/rewind`, { to: time });
  expect(rewound).toMatchObject({
    status: 200,
    body: { type: "memory_store_rewind", skipped: [] },
  });
  expect(rewound.body.changed).toHaveLength(5);
  expect(rewound.body.changed).toContainEqual({
    path: "/changed.md",
    operation: "modified",
    memory_id: changed.id,
    memory_version_id: expect.stringMatching(/^memver_/),
  });
  expect(await contents(store)).toEqual(then);
  expect((await stores().memories.retrieve(kept.id, { memory_store_id: store })).updated_at).toBe(
    kept.updated_at,
  );
  expect((await call("POST", `/${store}/rewind`, { to: time })).body).toMatchObject({
    changed: [],
    skipped: [],
  });
});

test("memories that changed places come back to them", async () => {
  const store = await newStore(client);
  const ids = [];
  for (const path of ["/1.md", "/2.md", "/3.md"]) ids.push((await create(store, path)).id);
  const then = await contents(store);
  const time = await now();
  const [one = "", two = "", three = ""] = ids;
  await update(store, one, { path: "/spare.md" });
  await update(store, two, { path: "/1.md" });
  await update(store, three, { path: "/2.md" });
  await update(store, one, { path: "/3.md" });
  const rewound = await call("POST", `/${store}/rewind`, { to: time });
  expect(rewound.body.skipped).toEqual([]);
  expect(await contents(store)).toEqual(then);
});

test("what one session wrote is undone; what somebody changed since stays and is told", async () => {
  const store = await newStore(client);
  const object = (await objectsOf(service)).store(store);
  const mine = await create(store, "/mine.md", "mine");
  await create(store, "/shared.md", "before");
  await writeAs(object, "sesn_one", "mine.md", "by one");
  await writeAs(object, "sesn_one", "new.md", "by one");
  await writeAs(object, "sesn_two", "two.md", "by two");
  await writeAs(object, "sesn_one", "shared.md", "by one");
  const shared = (await collect(stores().memories.list(store))).find(
    (item) => item.path === "/shared.md",
  );
  const sharedId = shared?.type === "memory" ? shared.id : "";
  await update(store, sharedId, { content: "and then by me" });

  const byOne = await collect(stores().memoryVersions.list(store, { session_id: "sesn_one" }));
  expect(byOne.map((version) => version.path)).toEqual(["/shared.md", "/new.md", "/mine.md"]);
  expect(byOne[0]?.created_by).toEqual({ type: "session_actor", session_id: "sesn_one" });

  const rewound = await call("POST", `/${store}/rewind`, { session_id: "sesn_one" });
  expect(rewound).toMatchObject({
    status: 200,
    body: { skipped: [{ path: "/shared.md", memory_id: sharedId, reason: expect.any(String) }] },
  });
  expect(rewound.body.changed).toHaveLength(2);
  expect(rewound.body.changed).toContainEqual(
    expect.objectContaining({ memory_id: mine.id, operation: "modified" }),
  );
  expect(await contents(store)).toEqual({
    "/mine.md": "mine",
    "/shared.md": "and then by me",
    "/two.md": "by two",
  });
});

test("an archived store is not rewound", async () => {
  const store = await newStore(client);
  const time = await now();
  await create(store, "/a.md");
  await stores().archive(store);
  const refused = await call("POST", `/${store}/rewind`, { to: time });
  expect(refused).toMatchObject({ status: 400 });
  expect(await contents(store)).toEqual({ "/a.md": "/a.md" });
});

test("what a crash leaves between account and store is passed over and cleared from the list", async () => {
  const own = await service.client({ user: "crash" });
  const { account, store } = await objectsOf(service, service.org, "crash");
  const listed = async () =>
    (await account.listStores({ limit: 100, includeArchived: true })).map((row) => row.id);
  const shown = async (query = {}) =>
    (await collect(own.beta.memoryStores.list(query))).map((item) => item.id);
  // Listed, and never made: long ago, and a moment ago, which may still be on its way.
  const old = `memstore_${"2".repeat(24)}`;
  const young = `memstore_${"3".repeat(24)}`;
  const row = { kind: "custom" as const, archived: false };
  await account.addStore({ ...row, id: old, createdAt: Date.now() - 3_600_000 });
  await account.addStore({ ...row, id: young, createdAt: Date.now() });
  expect(await shown()).toEqual([]);
  expect(await listed()).toEqual([young]);
  // Cleared, and never unlisted: deleting it again is a 404 that finishes the first one.
  const cleared = await newStore(own);
  await store(cleared).destroy();
  expect(await failure(own.beta.memoryStores.delete(cleared))).toMatchObject({ status: 404 });
  expect(await listed()).toEqual([young]);
  // Archived, and the list does not know.
  const archived = await newStore(own);
  await store(archived).archive();
  expect(await shown()).toEqual([]);
  expect(await account.listStores({ limit: 10, includeArchived: false })).toEqual([
    expect.objectContaining({ id: young }),
  ]);
  expect(await shown({ include_archived: true })).toEqual([archived]);
});
