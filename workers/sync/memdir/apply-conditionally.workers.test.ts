// Every change is conditional on what R2 held. Where somebody else changed the file there, their content
// becomes a version first, and the change is decided anew on top of it.

import { env } from "cloudflare:test";
import { beforeEach, expect, test } from "vitest";
import type { MemdirStub, StoreMeta } from "../../../src/platform/objects/memdir-rpc.ts";
import { memdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import type { Reply } from "../../../src/platform/objects/reply.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { INDEX_FILE } from "../../../src/shared/memdir/entrypoint.ts";
import { actor, historyOf, putText } from "./history-fixture.ts";
import { newStoreMeta } from "./meta-fixture.ts";

const OURS = "ours, newer";

let meta: StoreMeta;
let stub: MemdirStub;
beforeEach(async () => {
  meta = newStoreMeta();
  stub = memdirStub(env, meta.owner, meta.id);
  unwrap(await stub.open(meta));
});

interface Ids {
  memoryId: string;
  versionId: string;
}

const CHANGES: [string, (ids: Ids) => Promise<Reply<{ status: string }>>, string | undefined][] = [
  ["a write", () => stub.write({ path: "a.md", bytes: bytes(OURS), actor }), OURS],
  ["an update", ({ memoryId: id }) => stub.update({ id, bytes: bytes(OURS), actor }), OURS],
  ["a removal", () => stub.remove({ path: "a.md", actor }), undefined],
  ["a restore", ({ versionId }) => stub.restore(versionId, { actor }), "first"],
];

test.each(CHANGES)("%s keeps what somebody put into R2 meanwhile as a version", async (...args) => {
  const [, change, after] = args;
  const { memoryId, versionId } = await putText(stub, "a.md", "first");
  await putText(stub, "a.md", "second");
  await env.FILES.put(`${meta.prefix}a.md`, "foreign");
  expect(["written", "removed"]).toContain(unwrap(await change({ memoryId, versionId })).status);
  expect(await historyOf(stub)).toEqual([after, "foreign", "second", "first"]);
  expect(await (await env.FILES.get(`${meta.prefix}a.md`))?.text()).toBe(after);
});

test("a conditional write onto what somebody changed in R2 is a conflict, and names their content", async () => {
  await putText(stub, "a.md", "first");
  const before = unwrap(await stub.head("a.md"));
  await env.FILES.put(`${meta.prefix}a.md`, "foreign");
  const condition = { ifMatch: before?.sha256 ?? "" };
  const reply = unwrap(await stub.write({ path: "a.md", bytes: bytes(OURS), condition, actor }));
  expect(reply).toMatchObject({ status: "conflict", head: { size: "foreign".length } });
  expect(await historyOf(stub)).toEqual(["foreign", "first"]);
});

test("healing goes on top of an index that somebody changed in R2 meanwhile", async () => {
  await putText(stub, "a.md", "---\nname: a\ndescription: about a\n---\nbody\n");
  await putText(stub, INDEX_FILE, "# Ours\n");
  await env.FILES.put(meta.prefix + INDEX_FILE, "# Theirs\n");
  expect(unwrap(await stub.reconcile(actor))).toMatchObject([{ path: INDEX_FILE }]);
  const healed = unwrap(await stub.read(INDEX_FILE));
  const text = new TextDecoder().decode(healed?.bytes);
  expect(text).toContain("# Theirs");
  expect(text).toContain("(a.md)");
});

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
