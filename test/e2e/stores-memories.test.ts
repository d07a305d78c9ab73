// Memories and their versions through the official SDK alone, its types untouched.

import { expect, test } from "vitest";
import { sharedService } from "./service.ts";
import { collect, failure, newStore, sha256 } from "./stores-fixture.ts";

const service = await sharedService();
const client = await service.client();

const stores = () => client.beta.memoryStores;
const create = (store: string, path: string, content = path) =>
  stores().memories.create(store, { path, content });

test("a memory is stored byte for byte and told with its hash", async () => {
  const store = await newStore(client);
  const texts = [
    "",
    "plain\n",
    "\uFEFFwith a mark\r\n",
    "é e\u0301 🙂\u0007 \u2028",
    "x".repeat(102_400),
  ];
  for (const [n, content] of texts.entries()) {
    const made = await stores().memories.create(store, { path: `/t/${n}.md`, content });
    expect(made).toEqual({
      type: "memory",
      id: expect.stringMatching(/^mem_[1-9A-HJ-NP-Za-km-z]{24}$/),
      memory_store_id: store,
      memory_version_id: expect.stringMatching(/^memver_[1-9A-HJ-NP-Za-km-z]{24}$/),
      path: `/t/${n}.md`,
      content: null,
      content_sha256: sha256(content),
      content_size_bytes: Buffer.byteLength(content),
      created_at: expect.any(String),
      updated_at: made.created_at,
    });
    const read = await stores().memories.retrieve(made.id, { memory_store_id: store });
    expect(read).toEqual({ ...made, content });
    const basic = { memory_store_id: store, view: "basic" as const };
    expect(await stores().memories.retrieve(made.id, basic)).toEqual(made);
    const version = await stores().memoryVersions.retrieve(made.memory_version_id, {
      memory_store_id: store,
    });
    expect(version).toMatchObject({ content, content_sha256: sha256(content), path: made.path });
  }
  const full = await stores().memories.create(store, { path: "/f", content: "c", view: "full" });
  expect(full.content).toBe("c");
});

test("an update holds to its precondition, and a repeated one finds its work done", async () => {
  const store = await newStore(client);
  const made = await create(store, "/a.md", "one");
  const at = (content_sha256: string) => ({ type: "content_sha256" as const, content_sha256 });
  const two = {
    memory_store_id: store,
    content: "two",
    precondition: at(sha256("one")),
    view: "full" as const,
  };
  const changed = await stores().memories.update(made.id, two);
  expect(changed).toMatchObject({ id: made.id, content: "two", content_sha256: sha256("two") });
  expect(changed.memory_version_id).not.toBe(made.memory_version_id);
  // The same request again: the hash has moved on, and so has the memory, to what is asked for.
  expect(await stores().memories.update(made.id, two)).toEqual(changed);
  const three = { memory_store_id: store, content: "three", precondition: at(sha256("one")) };
  expect(await failure(stores().memories.update(made.id, three))).toMatchObject({
    status: 409,
    type: "memory_precondition_failed_error",
    message: expect.stringContaining("content_sha256"),
    retry: "false",
  });
  const stale = { memory_store_id: store, path: "/b.md", precondition: at(sha256("one")) };
  expect((await failure(stores().memories.update(made.id, stale))).type).toBe(
    "memory_precondition_failed_error",
  );
  const versions = await collect(stores().memoryVersions.list(store));
  expect(versions.map((version) => version.operation)).toEqual(["modified", "created"]);
  expect(await stores().memories.update(made.id, { memory_store_id: store })).toMatchObject({
    memory_version_id: changed.memory_version_id,
  });
});

test("a rename keeps id and content, and its precondition is about the content", async () => {
  const store = await newStore(client);
  const made = await create(store, "/a/b.md", "text");
  const renamed = await stores().memories.update(made.id, {
    memory_store_id: store,
    path: "/c/d.md",
    precondition: { type: "content_sha256", content_sha256: sha256("text") },
    view: "full",
  });
  expect(renamed).toMatchObject({ id: made.id, path: "/c/d.md", content: "text" });
  const paths = (await collect(stores().memories.list(store))).map((memory) => memory.path);
  expect(paths).toEqual(["/c/d.md"]);
  const both = await stores().memories.update(made.id, {
    memory_store_id: store,
    path: "/e.md",
    content: "other",
  });
  expect(both).toMatchObject({ id: made.id, path: "/e.md", content_sha256: sha256("other") });
  // Below its own old place, and onto it again: it is not in its own way.
  for (const path of ["/e.md/deeper.md", "/e.md"]) {
    const moved = await stores().memories.update(made.id, { memory_store_id: store, path });
    expect(moved).toMatchObject({ id: made.id, path });
  }
  expect((await create(store, "/a/b.md")).id).not.toBe(made.id);
});

test("a path that is taken, above or below another memory is a conflict that names it", async () => {
  const store = await newStore(client);
  const held = await create(store, "/notes/todo.md", "mine");
  const other = await create(store, "/other.md");
  for (const path of ["/notes/todo.md", "/notes", "/notes/todo.md/deeper/x.md"]) {
    const expected = {
      status: 409,
      type: "memory_path_conflict_error",
      conflicting_memory_id: held.id,
      conflicting_path: "/notes/todo.md",
      retry: "false",
    };
    // With its own content too: a creation says that the memory was not there.
    for (const content of ["mine", "other"]) {
      expect(await failure(create(store, path, content))).toMatchObject(expected);
    }
    const rename = stores().memories.update(other.id, { memory_store_id: store, path });
    expect(await failure(rename)).toMatchObject(expected);
  }
  // In its own way and in somebody else's: it is the other that counts.
  const sibling = await create(store, "/notes/zebra.md");
  const onto = stores().memories.update(held.id, { memory_store_id: store, path: "/notes" });
  expect(await failure(onto)).toMatchObject({
    type: "memory_path_conflict_error",
    conflicting_memory_id: sibling.id,
  });
  for (const path of ["/Notes/todo.md", "/notes-archive", "/notes/todo.md2"]) {
    await create(store, path);
  }
});

test("versions are listed newest first, filtered, and outlive their memory", async () => {
  const store = await newStore(client);
  const a = await create(store, "/a.md", "1");
  const b = await create(store, "/b.md", "2");
  await stores().memories.update(a.id, { memory_store_id: store, content: "3" });
  await stores().memories.update(a.id, { memory_store_id: store, path: "/c.md" });
  await stores().memories.delete(b.id, { memory_store_id: store });
  const list = (query: object = {}) =>
    collect(stores().memoryVersions.list(store, { limit: 2, ...query }));
  const all = await list({ view: "full" });
  expect(all.map(({ operation, path, content }) => [operation, path, content])).toEqual([
    ["deleted", "/b.md", null],
    ["modified", "/c.md", "3"],
    ["modified", "/a.md", "3"],
    ["created", "/b.md", "2"],
    ["created", "/a.md", "1"],
  ]);
  for (const version of all) {
    expect(version).toMatchObject({
      type: "memory_version",
      id: expect.stringMatching(/^memver_/),
      memory_store_id: store,
      created_by: { type: "user_actor", user_id: "ann" },
      redacted_at: null,
      redacted_by: null,
    });
  }
  expect(all[0]).toMatchObject({ content_sha256: null, content_size_bytes: null });
  const [, ...earlier] = all;
  const basic = await list();
  expect(basic).toEqual(all.map((version) => ({ ...version, content: null })));
  const ids = async (query: object) => (await list(query)).map((version) => version.id);
  const idsOf = (some: typeof all) => some.map((version) => version.id);
  expect(await ids({ memory_id: b.id })).toEqual(idsOf(all.filter((v) => v.memory_id === b.id)));
  expect(await ids({ operation: "created" })).toEqual(idsOf(all.slice(3)));
  expect(await ids({ memory_id: a.id, operation: "modified" })).toEqual(idsOf(all.slice(1, 3)));
  for (const query of [
    { session_id: "sesn_222222222222222222222222" },
    { memory_id: "mem_222222222222222222222222" },
    { memory_id: "nonsense" },
    { api_key_id: "apikey_x" },
    { service_account_id: "svac_x" },
    { "created_at[lte]": "2020-01-01T00:00:00Z" },
  ]) {
    expect(await ids(query)).toEqual([]);
  }
  expect(await ids({ "created_at[gte]": all.at(-1)?.created_at })).toEqual(idsOf(all));
  expect(await ids({ "created_at[lte]": earlier[0]?.created_at })).toEqual(
    idsOf(all.filter((version) => version.created_at <= (earlier[0]?.created_at ?? ""))),
  );
});

test("a redacted version keeps who and when, and the present content cannot be redacted", async () => {
  const store = await newStore(client);
  const made = await create(store, "/a.md", "a secret of mine");
  const at = { memory_store_id: store };
  const redact = (id: string) => stores().memoryVersions.redact(id, at);
  expect(await failure(redact(made.memory_version_id))).toMatchObject({
    status: 400,
    type: "invalid_request_error",
    message: expect.stringContaining("present content"),
  });
  await stores().memories.update(made.id, { ...at, content: "nothing to hide" });
  const before = await stores().memoryVersions.retrieve(made.memory_version_id, at);
  const redacted = await redact(made.memory_version_id);
  expect(redacted).toEqual({
    ...before,
    path: null,
    content: null,
    content_sha256: null,
    content_size_bytes: null,
    redacted_at: expect.stringMatching(/Z$/),
    redacted_by: { type: "user_actor", user_id: "ann" },
  });
  expect(await redact(made.memory_version_id)).toEqual(redacted);
  expect(await stores().memoryVersions.retrieve(made.memory_version_id, at)).toEqual(redacted);
  const memory = await stores().memories.retrieve(made.id, at);
  expect(memory.content).toBe("nothing to hide");
  await stores().memories.delete(made.id, at);
  expect((await redact(memory.memory_version_id)).content_sha256).toBeNull();
});

test("a deletion with another hash deletes nothing", async () => {
  const store = await newStore(client);
  const made = await create(store, "/a.md", "text");
  const remove = (expected_content_sha256?: string) =>
    stores().memories.delete(made.id, {
      memory_store_id: store,
      ...(expected_content_sha256 === undefined ? {} : { expected_content_sha256 }),
    });
  expect(await failure(remove(sha256("other")))).toMatchObject({
    status: 409,
    type: "memory_precondition_failed_error",
    retry: "false",
  });
  expect((await collect(stores().memories.list(store))).length).toBe(1);
  expect(await remove(sha256("text"))).toEqual({ id: made.id, type: "memory_deleted" });
  const read = () => stores().memories.retrieve(made.id, { memory_store_id: store });
  for (const call of [() => remove(), read]) {
    expect(await failure(call())).toMatchObject({
      status: 404,
      type: "not_found_error",
      message: "There is no such memory",
    });
  }
});
