import { env, runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { newId } from "../../../src/platform/ids.ts";
import { accountStub } from "../../../src/platform/objects/account-rpc.ts";
import type { MemdirStub, StoreMeta } from "../../../src/platform/objects/memdir-rpc.ts";
import { memdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { storeObjectName, userOwner } from "../../../src/platform/objects/store-owner.ts";
import { INDEX_FILE } from "../../../src/shared/memdir/entrypoint.ts";
import { readStoreMeta } from "./meta.ts";
import { newStoreMeta } from "./meta-fixture.ts";

const actor = { type: "user", userId: "u" } as const;
const by = (sessionId: string) => ({ type: "session", sessionId, by: "agent" }) as const;

test("a store that was deleted can be made anew and used", async () => {
  const { stub, meta } = await directory();
  await put(stub, "a.md", "one");
  unwrap(await stub.destroy());
  expect(await stub.read("a.md")).toMatchObject({ ok: false, code: "not_found" });
  expect((await env.FILES.list({ prefix: meta.prefix })).objects).toEqual([]);
  unwrap(await stub.open(meta));
  expect(unwrap(await stub.read("a.md"))).toBeNull();
  await put(stub, "a.md", "two");
  expect(await text(stub, "a.md")).toBe("two");
});

test("ten patches of the metadata at once all hold, and a null takes its key away", async () => {
  const { stub } = await directory();
  await Promise.all(
    Array.from({ length: 10 }, (_, n) => stub.updateMeta({ metadata: { [`k${n}`]: String(n) } })),
  );
  const { metadata } = unwrap(await stub.updateMeta({ metadata: { k0: null } }));
  expect(Object.keys(metadata).toSorted()).toEqual(
    Array.from({ length: 9 }, (_, n) => `k${n + 1}`),
  );
});

test("a name of the last characters of Unicode is listed like any other", async () => {
  const { stub } = await directory();
  await put(stub, "\u{10fffd}a.md", "x");
  const { heads } = unwrap(await stub.list({ prefix: "", limit: 10 }));
  expect(heads.map((head) => head.path)).toEqual(["\u{10fffd}a.md"]);
});

test("a rename onto a folder that holds others is a conflict, also where it holds the memory itself", async () => {
  const { stub } = await directory();
  const first = await put(stub, "notes/todo.md", "1");
  await put(stub, "notes/zebra.md", "2");
  const reply = unwrap(await stub.update({ id: first.memoryId, path: "notes", actor }));
  expect(reply).toMatchObject({ status: "path_conflict", path: "notes/zebra.md" });
});

test("a rewind undoes renames that changed places", async () => {
  const { stub } = await directory();
  const ids = [];
  for (const n of [1, 2, 3]) ids.push((await put(stub, `${n}.md`, `text ${n}`)).memoryId);
  const time = Date.now();
  await new Promise((resolve) => setTimeout(resolve, 5));
  const moves = [
    [0, "x.md"],
    [1, "1.md"],
    [2, "2.md"],
    [0, "3.md"],
  ] as const;
  for (const [index, path] of moves)
    unwrap(await stub.update({ id: ids[index] ?? "", path, actor }));
  expect(await text(stub, "1.md")).toBe("text 2");
  const { changed, skipped } = unwrap(await stub.rewind({ time }, { actor }));
  expect(skipped).toEqual([]);
  expect(changed).toHaveLength(3);
  for (const [index, n] of [1, 2, 3].entries()) {
    expect(await text(stub, `${n}.md`)).toBe(`text ${n}`);
    expect(unwrap(await stub.head(`${n}.md`))?.id).toBe(ids[index]);
  }
});

test("a session's work is undone, and what somebody else changed since stays", async () => {
  const { stub } = await directory();
  await put(stub, "kept.md", "before");
  await put(stub, "kept.md", "by s1", by("s1"));
  await put(stub, "new.md", "by s1", by("s1"));
  await put(stub, "shared.md", "by s1", by("s1"));
  await put(stub, "shared.md", "by s2", by("s2"));
  const { changed, skipped } = unwrap(await stub.rewind({ sessionId: "s1" }, { actor }));
  expect(changed.map(({ path, operation }) => `${operation} ${path}`).toSorted()).toEqual([
    "deleted new.md",
    "modified kept.md",
  ]);
  expect(skipped).toMatchObject([{ path: "shared.md" }]);
  expect(await text(stub, "kept.md")).toBe("before");
  expect(await text(stub, "shared.md")).toBe("by s2");
});

test("a lease that has passed on refuses its old holder's write, however late it comes", async () => {
  const { stub } = await directory();
  const first = unwrap(await stub.acquire("extraction", "one", 1500));
  if (first.status !== "granted") throw new Error("not granted");
  expect(unwrap(await stub.acquire("extraction", "two", 1000))).toMatchObject({ status: "held" });
  const lease = { name: "extraction", token: first.token } as const;
  expect(unwrap(await stub.write({ path: "a.md", bytes: bytes("1"), actor, lease }))).toMatchObject(
    {
      status: "written",
    },
  );
  await new Promise((resolve) => setTimeout(resolve, 1600));
  const second = unwrap(await stub.acquire("extraction", "two", 10_000));
  expect(second).toMatchObject({ status: "granted" });
  expect(unwrap(await stub.write({ path: "a.md", bytes: bytes("2"), actor, lease }))).toMatchObject(
    {
      status: "refused",
      reason: "lease_lost",
    },
  );
  expect(unwrap(await stub.renew("extraction", first.token, 1000))).toMatchObject({
    status: "held",
  });
  unwrap(await stub.release("extraction", first.token));
  expect(unwrap(await stub.acquire("extraction", "three", 10))).toMatchObject({ status: "held" });
  expect(unwrap(await stub.acquire("dream", "three", 10))).toMatchObject({ status: "granted" });
});

test("a scan is newest first, without the index, and knows type and description", async () => {
  const { stub } = await directory();
  for (const n of [1, 2, 3]) {
    await put(
      stub,
      `${n}.md`,
      `---\nname: n${n}\ndescription: about ${n}\ntype: user\n---\nbody\n`,
    );
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
  await put(stub, INDEX_FILE, "- [n1](1.md) - about 1\n");
  const found = unwrap(await stub.scan(2));
  expect(found.map(({ path, type, description }) => [path, type, description])).toEqual([
    ["3.md", "user", "about 3"],
    ["2.md", "user", "about 2"],
  ]);
});

test("a file that comes from outside with a past time of its own keeps it; a copy of it is no change", async () => {
  const { stub, meta } = await directory();
  const old =
    "---\nname: old\ndescription: d\nmetadata:\n  modified: 2026-01-02T03:04:05Z\n---\nbody\n";
  await env.FILES.put(`${meta.prefix}old.md`, old);
  expect(unwrap(await stub.importChanges())).toMatchObject([
    { path: "old.md", operation: "created" },
  ]);
  const head = unwrap(await stub.head("old.md"));
  expect(head?.updatedAt).toBe(Date.parse("2026-01-02T03:04:05Z"));
  await env.FILES.put(`${meta.prefix}old.md`, old);
  expect(unwrap(await stub.importChanges())).toEqual([]);
  const renamed = unwrap(await stub.update({ id: head?.id ?? "", path: "older.md", actor }));
  expect(renamed).toMatchObject({ status: "written", head: { updatedAt: head?.updatedAt } });
});

test("exactly 250,000 bytes are taken, one more is refused before anything is stored", async () => {
  const { stub, meta } = await directory();
  expect(
    unwrap(await stub.write({ path: "a.md", bytes: bytes("x".repeat(250_000)), actor })),
  ).toMatchObject({
    status: "written",
  });
  const over = unwrap(await stub.write({ path: "b.md", bytes: new Uint8Array(250_001), actor }));
  expect(over).toMatchObject({ status: "refused", reason: "too_large" });
  expect(await env.FILES.head(`${meta.prefix}b.md`)).toBeNull();
});

test("a repository's store is its own object and stands in no user's account", async () => {
  const id = newId("memstore");
  const user = { tenant: "t", user: "acme/app" };
  const repository = { type: "repository", tenant: "t", repo: "acme/app" } as const;
  const own = newStoreMeta({ id, owner: userOwner(user) });
  const shared = newStoreMeta({
    id,
    owner: repository,
    kind: "team",
    prefix: `t/t/test-repository/${id}/`,
  });
  const stub = memdirStub(env, repository, id);
  expect(unwrap(await stub.open(shared))).toEqual(shared);
  expect(await memdirStub(env, own.owner, id).meta()).toMatchObject({ code: "not_found" });
  const all = { limit: 10, includeArchived: true };
  expect(await accountStub(env, user).listStores(all)).toEqual([]);
  const object = env.MEMDIR.get(env.MEMDIR.idFromName(storeObjectName(repository, id)));
  await runInDurableObject(object, (_instance, { storage }) => {
    expect(readStoreMeta(storage.sql)).toEqual({ meta: shared, listed: false });
  });

  unwrap(await memdirStub(env, own.owner, id).open(own));
  expect(await accountStub(env, user).listStores(all)).toMatchObject([{ id, kind: "auto" }]);
  await put(stub, "a.md", "the team's");
  expect(unwrap(await memdirStub(env, own.owner, id).read("a.md"))).toBeNull();
  expect(unwrap(await stub.meta())).toEqual(shared);
});

async function directory(): Promise<{ stub: MemdirStub; meta: StoreMeta }> {
  const meta = newStoreMeta();
  const stub = memdirStub(env, meta.owner, meta.id);
  unwrap(await stub.open(meta));
  return { stub, meta };
}

async function put(
  stub: MemdirStub,
  path: string,
  content: string,
  who: typeof actor | ReturnType<typeof by> = actor,
) {
  const reply = unwrap(await stub.write({ path, bytes: bytes(content), actor: who }));
  if (reply.status !== "written") throw new Error(`not written: ${reply.status}`);
  return reply.receipt;
}

async function text(stub: MemdirStub, path: string): Promise<string | undefined> {
  const found = unwrap(await stub.read(path));
  return found ? new TextDecoder().decode(found.bytes) : undefined;
}

function bytes(content: string): Uint8Array {
  return new TextEncoder().encode(content);
}

test("a rewind takes nothing away whose successor cannot come, and tells what it left", async () => {
  const { stub } = await directory();
  const y = await put(stub, "p1.md", "Y");
  const x = await put(stub, "p2.md", "X");
  const z = await put(stub, "z.md", "Z");
  const time = Date.now();
  await new Promise((resolve) => setTimeout(resolve, 5));
  unwrap(await stub.remove({ id: y.memoryId, actor }));
  unwrap(await stub.update({ id: x.memoryId, path: "p1.md", actor }));
  unwrap(await stub.update({ id: z.memoryId, path: "p2.md", bytes: bytes("Z2"), actor }));
  unwrap(await stub.redact(z.versionId, actor));
  const { skipped } = unwrap(await stub.rewind({ time }, { actor }));
  expect(skipped.map((one) => one.memoryId).toSorted()).toEqual(
    [x.memoryId, y.memoryId, z.memoryId].toSorted(),
  );
  expect(await text(stub, "p1.md")).toBe("X");
  expect(await text(stub, "p2.md")).toBe("Z2");
});

test("a rewind to a time undoes what was changed in R2 and not yet seen", async () => {
  const { stub, meta } = await directory();
  await put(stub, "a.md", "one");
  const time = Date.now();
  await new Promise((resolve) => setTimeout(resolve, 5));
  await env.FILES.put(`${meta.prefix}a.md`, "two");
  await env.FILES.put(`${meta.prefix}b.md`, "new");
  unwrap(await stub.rewind({ time }, { actor }));
  expect(await text(stub, "a.md")).toBe("one");
  expect(await text(stub, "b.md")).toBeUndefined();
  expect(unwrap(await stub.importChanges())).toEqual([]);
});

test("healing writes no secret into the index, and leaves alone what is not UTF-8", async () => {
  const { stub, meta } = await directory();
  const secret = ["sk", "ant", "api03", `${"aB3_dE9x".repeat(11)}Zq7Kw`, "AA"].join("-");
  await env.FILES.put(`${meta.prefix}k.md`, `---\nname: k\ndescription: ${secret}\n---\nbody\n`);
  unwrap(await stub.importChanges());
  unwrap(await stub.reconcile(actor));
  expect(await text(stub, INDEX_FILE)).toMatch(/^- \[.+\]\(k\.md\)/);
  expect(await text(stub, INDEX_FILE)).not.toContain(secret.slice(14, 40));

  const odd = await directory();
  await put(odd.stub, "a.md", "x");
  await env.FILES.put(`${odd.meta.prefix}${INDEX_FILE}`, new Uint8Array([0x2d, 0x20, 0xff, 0x0a]));
  unwrap(await odd.stub.importChanges());
  expect(unwrap(await odd.stub.reconcile(actor))).toEqual([]);
  expect(unwrap(await odd.stub.read(INDEX_FILE))).toBeNull();
  const there = await env.FILES.get(`${odd.meta.prefix}${INDEX_FILE}`);
  expect(await there?.bytes()).toEqual(new Uint8Array([0x2d, 0x20, 0xff, 0x0a]));
});

test("what nobody could write here does not come in from R2: odd names, files over the limit, no text", async () => {
  const { stub, meta } = await directory();
  for (const name of [
    "%2E%2E/%2E%2E/z.md",
    "x%0A- [evil](x.md).md",
    "bidi\u202eevil.md",
    "cafe\u0301.md",
  ]) {
    await env.FILES.put(meta.prefix + name, "x");
  }
  await env.FILES.put(`${meta.prefix}huge.md`, new Uint8Array(250_001));
  await env.FILES.put(`${meta.prefix}nul.md`, "moved\u0000 to Oslo");
  await env.FILES.put(`${meta.prefix}bytes.md`, new Uint8Array([0x61, 0xff]));
  await env.FILES.put(`${meta.prefix}fine.md`, "fine");
  expect(unwrap(await stub.importChanges()).map((receipt) => receipt.path)).toEqual(["fine.md"]);
  // Nor does it give way: whoever wants the path is told, and it stays as it is.
  const reply = unwrap(await stub.write({ path: "nul.md", bytes: bytes("mine"), actor }));
  expect(reply).toEqual({ status: "conflict", head: null });
  expect(await (await env.FILES.get(`${meta.prefix}nul.md`))?.text()).toBe("moved\u0000 to Oslo");
  await put(stub, "fine.md", "finer");
  await env.FILES.put(`${meta.prefix}fine.md`, "no\u0000");
  expect(unwrap(await stub.importChanges())).toEqual([]);
  expect(await text(stub, "fine.md")).toBe("finer");
});
