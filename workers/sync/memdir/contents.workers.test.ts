// What a store's history holds: each content once, in the database or in R2, and for how long.

import { env, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { beforeEach, expect, test } from "vitest";
import type { MemdirStub, StoreMeta } from "../../../src/platform/objects/memdir-rpc.ts";
import { memdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { historyPrefix } from "../../../src/platform/r2/mount-table.ts";
import type { StoreSizes } from "./directory.ts";
import { objectOf } from "./directory-fixture.ts";
import { actor, historyOf, putText } from "./history-fixture.ts";
import { Memdir } from "./memdir.ts";
import { newStoreMeta } from "./meta-fixture.ts";

let meta: StoreMeta;
let stub: MemdirStub;
beforeEach(async () => {
  meta = newStoreMeta();
  stub = memdirStub(env, meta.owner, meta.id);
  unwrap(await stub.open(meta));
});

test("a content is on disk once, however many versions and memories have it", async () => {
  await putText(stub, "a.md", "same");
  await putText(stub, "b.md", "same");
  await putText(stub, "a.md", "other");
  await putText(stub, "a.md", "same");
  expect(await count("contents")).toBe(2);
  expect(await count("versions")).toBe(4);
  expect(await historyOf(stub)).toEqual(["same", "other", "same", "same"]);
});

test("a redaction reaches every version of the same bytes, and waits while a memory has them", async () => {
  const first = await putText(stub, "a.md", "secret");
  const second = await putText(stub, "b.md", "secret");
  await putText(stub, "a.md", "clean");
  expect(await stub.redact(first.versionId, actor)).toMatchObject({
    ok: false,
    code: "invalid_request",
    message: expect.stringContaining("/b.md"),
  });
  unwrap(await stub.remove({ path: "b.md", actor }));
  unwrap(await stub.redact(first.versionId, actor));
  expect(unwrap(await stub.version(second.versionId))).toMatchObject({
    path: null,
    sha256: null,
    bytes: null,
    redactedBy: actor,
  });
  expect(await historyOf(stub)).toEqual([undefined, "clean", undefined, undefined]);
  expect(await count("contents")).toBe(1);
});

test("a large database gives what no memory has to R2, and every version is read, restored and rewound from there", async () => {
  const first = await putText(stub, "a.md", "one");
  await pause();
  const time = Date.now();
  await pause();
  await putText(stub, "a.md", "two");
  await putText(stub, "a.md", "three");
  await spillAll();
  expect(await spilled()).toBe(2);
  expect(await historyOf(stub)).toEqual(["three", "two", "one"]);
  // The history lies beside the memories: an import sees nothing of it.
  expect(unwrap(await stub.importChanges())).toEqual([]);

  expect(unwrap(await stub.restore(first.versionId, { actor }))).toMatchObject({
    status: "written",
  });
  expect(await text("a.md")).toBe("one");
  await putText(stub, "a.md", "four");
  await spillAll();
  const { changed, skipped } = unwrap(await stub.rewind({ time }, { actor }));
  expect(skipped).toEqual([]);
  expect(changed).toHaveLength(1);
  expect(await text("a.md")).toBe("one");
  expect(await (await env.FILES.get(`${meta.prefix}a.md`))?.text()).toBe("one");
});

test("a redaction deletes in R2 too, also the copy that a move left there before a crash; so does the store's end", async () => {
  const first = await putText(stub, "a.md", "one");
  const second = await putText(stub, "a.md", "two");
  const third = await putText(stub, "a.md", "three");
  await putText(stub, "a.md", "four");
  const { sha256 } = unwrap(await stub.version(second.versionId)) ?? {};
  await env.FILES.put(`${history()}${sha256}`, "two");
  unwrap(await stub.redact(second.versionId, actor));
  expect(await spilled()).toBe(0);
  await spillAll();
  expect(await spilled()).toBe(2);
  unwrap(await stub.redact(first.versionId, actor));
  expect(await spilled()).toBe(1);
  expect(unwrap(await stub.version(first.versionId))).toMatchObject({ sha256: null, bytes: null });
  expect(await bytesOfVersion(third.versionId)).toBe("three");
  unwrap(await stub.destroy());
  expect(await spilled()).toBe(0);
});

test("a content that comes back after it moved to R2 is a memory's again, and is read without R2", async () => {
  await putText(stub, "a.md", "one");
  await putText(stub, "a.md", "two");
  await spillAll();
  await putText(stub, "a.md", "one");
  for (const { key } of (await env.FILES.list({ prefix: history() })).objects) {
    await env.FILES.delete(key);
  }
  expect(await text("a.md")).toBe("one");
});

test("a number that another content has now does not lead a version of before to its bytes", async () => {
  const first = await putText(stub, "a.md", "one");
  await putText(stub, "a.md", "two");
  unwrap(await stub.remove({ path: "a.md", actor }));
  await spillAll();
  expect(await count("contents")).toBe(0);
  await putText(stub, "b.md", "three");
  await putText(stub, "c.md", "four");
  expect(await historyOf(stub)).toEqual(["four", "three", undefined, "two", "one"]);
  unwrap(await stub.redact(first.versionId, actor));
  expect(await historyOf(stub)).toEqual(["four", "three", undefined, "two", undefined]);
  // What is here again after the move is redacted here too, and the neighbours stay.
  const again = await putText(stub, "a.md", "two");
  await putText(stub, "a.md", "five");
  unwrap(await stub.redact(again.versionId, actor));
  expect(await historyOf(stub)).toEqual(["five", undefined, "four", "three", ...Array(3)]);
  expect(await text("b.md")).toBe("three");
  expect(await text("c.md")).toBe("four");
  expect(await count("contents")).toBe(3);
  expect(await spilled()).toBe(0);
});

test("a store at its size limit takes nothing new and says so; it can be emptied and redacted, and others work", async () => {
  const first = await putText(stub, "a.md", "one");
  await putText(stub, "a.md", "two");
  await putText(stub, "b.md", "b");
  await setSizes({ spill: 1e9, most: 4096 });
  const refused = unwrap(await stub.write({ path: "c.md", bytes: bytes("c"), actor }));
  expect(refused).toMatchObject({ status: "refused", reason: "storage" });
  const message = /take \d+ bytes, and a store may have 4096.*Delete memories and redact/;
  expect(refused).toMatchObject({ message: expect.stringMatching(message) });
  const restored = unwrap(await stub.restore(first.versionId, { actor }));
  expect(restored).toMatchObject({ status: "refused", reason: "storage" });
  expect(await stub.rewind({ time: 0 }, { actor })).toMatchObject({
    code: "invalid_request",
    message: expect.stringMatching(message),
  });
  await env.FILES.put(`${meta.prefix}outside.md`, "from outside");
  expect(unwrap(await stub.importChanges())).toEqual([]);
  expect(await text("a.md")).toBe("two");
  expect(unwrap(await stub.redact(first.versionId, actor))?.redactedAt).not.toBeNull();
  expect(unwrap(await stub.remove({ path: "b.md", actor })).status).toBe("removed");

  const other = newStoreMeta();
  const neighbour = memdirStub(env, other.owner, other.id);
  unwrap(await neighbour.open(other));
  const reply = unwrap(await neighbour.write({ path: "a.md", bytes: bytes("x"), actor }));
  expect(reply.status).toBe("written");
});

async function bytesOfVersion(id: string): Promise<string | undefined> {
  const found = unwrap(await stub.version(id))?.bytes;
  return found ? decode(found) : undefined;
}

async function text(path: string): Promise<string | undefined> {
  const found = unwrap(await stub.read(path));
  return found ? decode(found.bytes) : undefined;
}

/** As the alarm of a store that is larger than it may be. */
async function spillAll(): Promise<void> {
  await setSizes({ spill: 0, most: 1e9 });
  unwrap(await stub.importChanges());
  expect(await runDurableObjectAlarm(objectOf(meta))).toBe(true);
  await setSizes({ spill: 1e9, most: 1e9 });
}

async function spilled(): Promise<number> {
  return (await env.FILES.list({ prefix: history() })).objects.length;
}

function history(): string {
  return historyPrefix(meta.owner, meta.id);
}

function setSizes(sizes: StoreSizes): Promise<void> {
  return runInDurableObject(objectOf(meta), (instance) => {
    if (instance instanceof Memdir) instance.sizes = sizes;
  });
}

async function count(table: "contents" | "versions"): Promise<number> {
  // A call settles what the last save has left for after its reply.
  unwrap(await stub.head("a.md"));
  return runInDurableObject(
    objectOf(meta),
    (_instance, { storage }) =>
      storage.sql.exec<{ n: number }>(`SELECT count(*) AS n FROM ${table}`).one().n,
  );
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}

function bytes(content: string): Uint8Array {
  return new TextEncoder().encode(content);
}

function decode(content: Uint8Array): string {
  return new TextDecoder().decode(content);
}
