// How old a memory is: as old as its content, wherever that was before.

import { env, runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, test } from "vitest";
import type { Actor, MemdirStub, StoreMeta } from "../../../src/platform/objects/memdir-rpc.ts";
import { memdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { objectOf } from "./directory-fixture.ts";
import { actor, putText } from "./history-fixture.ts";
import { newStoreMeta } from "./meta-fixture.ts";

const agent = { type: "session", sessionId: "s1", by: "agent" } as const;
const fork = { ...agent, by: "extraction" } as const;

let meta: StoreMeta;
let stub: MemdirStub;
beforeEach(async () => {
  meta = newStoreMeta();
  stub = memdirStub(env, meta.owner, meta.id);
  unwrap(await stub.open(meta));
});

describe("the age of a memory", () => {
  const SAID = Date.parse("2024-03-01T10:00:00Z");
  const memory = (modified: string) => `---\nname: a\nmodified: ${modified}\n---\nbody\n`;
  const nested = "---\nname: a\nmetadata:\n  modified: 2024-03-01T10:00:00Z\n---\nbody\n";
  const past = memory("2024-03-01T10:00:00Z");

  test("is what it says itself where it comes from outside, by each door; its version has the real time", async () => {
    const begun = Date.now();
    await putText(stub, "api.md", past);
    await env.FILES.put(`${meta.prefix}r2.md`, nested);
    unwrap(await stub.importChanges());
    for (const path of ["api.md", "r2.md"]) {
      expect(await headOf(path)).toMatchObject({ createdAt: SAID, updatedAt: SAID });
    }
    for (const { at } of unwrap(await stub.versions({ limit: 9, withContent: false }))) {
      expect(at).toBeGreaterThanOrEqual(begun);
    }
    // A rewind goes by when it was written here.
    unwrap(await stub.rewind({ time: begun - 1 }, { actor }));
    expect(await headOf("api.md")).toBeNull();
  });

  test.each([
    ["the future", new Date(Date.now() + 3_600_000).toISOString()],
    ["no time", "last spring"],
    ["a day that is none", "2024-02-31"],
    ["the clock of 1970", "1970-01-01T00:00:01Z"],
    ["the clock of 1980", "1980-01-01"],
    ["long ago", "0001-01-01"],
    ["nothing", ""],
  ])("is that of its arrival where it says %s", async (_what, modified) => {
    const begun = Date.now();
    await putText(stub, "api.md", memory(modified));
    await env.FILES.put(`${meta.prefix}r2.md`, `${memory(modified)}.`);
    unwrap(await stub.importChanges());
    for (const path of ["api.md", "r2.md"]) {
      const { createdAt = 0, updatedAt = 0 } = (await headOf(path)) ?? {};
      expect(updatedAt).toBeGreaterThanOrEqual(begun);
      expect(createdAt).toBe(updatedAt);
    }
  });

  test("is that of the write where a session writes, and where a memory is changed", async () => {
    const begun = Date.now();
    for (const who of [agent, fork]) {
      await put(`${who.by}.md`, `${past}${who.by}`, who);
      expect((await headOf(`${who.by}.md`))?.updatedAt).toBeGreaterThanOrEqual(begun);
    }
    const { memoryId } = await putText(stub, "a.md", "new");
    unwrap(await stub.update({ id: memoryId, bytes: bytes(`${past}1`), actor }));
    await put("b.md", "new", actor);
    await put("b.md", `${past}2`, actor);
    for (const path of ["a.md", "b.md"]) {
      expect((await headOf(path))?.updatedAt).toBeGreaterThanOrEqual(begun);
    }
    // What no memory says any more is no original.
    await new Promise((resolve) => setTimeout(resolve, 5));
    const later = Date.now();
    await put("c.md", "new", agent);
    expect((await headOf("c.md"))?.updatedAt).toBeGreaterThanOrEqual(later);
  });

  test("comes from R2 with a replaced file only where the time was set, not where it was left", async () => {
    const begun = Date.now();
    await putText(stub, "set.md", memory("2023-01-01"));
    await putText(stub, "left.md", past);
    await env.FILES.put(`${meta.prefix}set.md`, past);
    await env.FILES.put(`${meta.prefix}left.md`, `${past}more\n`);
    unwrap(await stub.importChanges());
    expect((await headOf("set.md"))?.updatedAt).toBe(SAID);
    expect((await headOf("left.md"))?.updatedAt).toBeGreaterThanOrEqual(begun);
  });

  test("does not change by reading, moving, copying, or putting the same bytes, by whomever", async () => {
    const { memoryId } = await putText(stub, "a.md", past);
    const other = await put("other.md", "the agent's own words", agent);
    const written = (await headOf("other.md"))?.updatedAt;
    await new Promise((resolve) => setTimeout(resolve, 5));
    await stub.read("a.md", agent);
    await put("a.md", past, agent);
    await put("other.md", "the agent's own words", actor);
    await env.FILES.put(`${meta.prefix}a.md`, past);
    unwrap(await stub.importChanges());
    unwrap(await stub.update({ id: memoryId, path: "b.md", bytes: bytes(past), actor }));
    unwrap(await stub.update({ id: memoryId, path: "c.md", actor: agent }));
    expect(await headOf("c.md")).toMatchObject({ id: memoryId, updatedAt: SAID });
    // A rename by tools is a copy and a deletion; the old file's history stays.
    await put("renamed.md", "the agent's own words", agent);
    unwrap(await stub.remove({ path: "other.md", actor: agent }));
    await put("copy.md", past, fork);
    expect((await headOf("renamed.md"))?.updatedAt).toBe(written);
    expect((await headOf("copy.md"))?.updatedAt).toBe(SAID);
    const history = { memoryId: other.memoryId, limit: 9, withContent: false };
    expect(unwrap(await stub.versions(history)).map(({ operation }) => operation)).toEqual([
      "deleted",
      "created",
    ]);
  });

  test("stays with a file that somebody moves in R2", async () => {
    for (const [n, to] of ["0.md", "z.md"].entries()) {
      await put(`m${n}.md`, `words ${n}`, agent);
      const before = (await headOf(`m${n}.md`))?.updatedAt;
      await new Promise((resolve) => setTimeout(resolve, 5));
      await env.FILES.delete(`${meta.prefix}m${n}.md`);
      await env.FILES.put(meta.prefix + to, `words ${n}`);
      expect(unwrap(await stub.importChanges())).toHaveLength(2);
      expect((await headOf(to))?.updatedAt).toBe(before);
    }
  });

  test("outlives a crash between the intent and the commit", async () => {
    await runInDurableObject(objectOf(meta), (_instance, { storage }) => {
      storage.sql.exec(
        "CREATE TRIGGER crash BEFORE INSERT ON versions BEGIN SELECT RAISE(ABORT, 'crash'); END",
      );
    });
    await put("a.md", past, actor).catch(() => {});
    await runInDurableObject(objectOf(meta), async (_instance, { storage }) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      storage.sql.exec("DROP TRIGGER crash");
    });
    expect(await headOf("a.md")).toMatchObject({ createdAt: SAID, updatedAt: SAID });
  });
});

async function put(path: string, text: string, who: Actor) {
  const reply = unwrap(await stub.write({ path, bytes: bytes(text), actor: who }));
  if (reply.status === "written") return reply.receipt;
  if (reply.status === "unchanged") return { memoryId: reply.head.id };
  throw new Error(reply.status);
}

async function headOf(path: string) {
  return unwrap(await stub.head(path));
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
