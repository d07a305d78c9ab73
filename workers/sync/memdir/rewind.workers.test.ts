// Undo costs what it undoes, not what was ever written, and a kill in the middle does not stop it.

import {
  abortAllDurableObjects,
  env,
  runDurableObjectAlarm,
  runInDurableObject,
} from "cloudflare:test";
import { expect, test } from "vitest";
import { newId } from "../../../src/platform/ids.ts";
import { memdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { sha256Hex } from "../../../src/shared/files/digest.ts";
import { addContent } from "./contents.ts";
import type { Directory } from "./directory.ts";
import { directoryOf, objectOf } from "./directory-fixture.ts";
import { newStoreMeta } from "./meta-fixture.ts";
import { rewind } from "./rewind.ts";
import { addVersion } from "./versions.ts";
import { watchedSql } from "./watched-sql-fixture.ts";
import { write } from "./write.ts";

const actor = { type: "user", userId: "u" } as const;
const CONTENT_BYTES = 24 * 1024;

test("a memory with 4,000 versions of 24 KB goes back by reading a handful of contents", async () => {
  const meta = newStoreMeta();
  unwrap(await memdirStub(env, meta.owner, meta.id).open(meta));
  await runInDurableObject(objectOf(meta), async (_instance, { storage }) => {
    let read = 0;
    const dir = directoryOf(meta, storage);
    const first = await write(dir, { path: "a.md", bytes: contentOf(0), actor });
    if (first.status !== "written") throw new Error(first.status);
    const { memoryId } = first.receipt;
    const start = Date.now();
    for (let n = 1; n < 4000; n += 1) {
      const bytes = contentOf(n);
      const content = addContent(dir.sql, { bytes, sha256: await sha256Hex(bytes) });
      const at = start + n;
      addVersion(dir.sql, {
        id: newId("memver"),
        memoryId,
        operation: "modified",
        path: "a.md",
        content,
        actor,
        at,
      });
    }
    const sql = watchedSql(dir.sql, ({ rows }) => {
      read += contentBytes(rows);
    });
    const reply = await rewind({ ...dir, sql }, { time: start + 1000 }, { actor });
    expect(reply).toMatchObject({ changed: [{ path: "a.md" }], skipped: [] });
    expect(await (await env.FILES.get(`${meta.prefix}a.md`))?.text()).toMatch(/^version 1000 /);
    expect(read).toBeGreaterThan(0);
    expect(read).toBeLessThanOrEqual(4 * CONTENT_BYTES);
  });
});

test.each(["the next change", "the alarm"])(
  "a rewind that a kill cut off goes on with %s, and does nothing twice",
  async (waker) => {
    const meta = newStoreMeta();
    const stub = () => memdirStub(env, meta.owner, meta.id);
    unwrap(await stub().open(meta));
    const put = async (path: string, content: string) =>
      unwrap(await stub().write({ path, bytes: new TextEncoder().encode(content), actor }));
    const paths = Array.from({ length: 20 }, (_, n) => `${n}.md`);
    for (const path of paths) await put(path, `${path} before`);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const time = Date.now();
    await new Promise((resolve) => setTimeout(resolve, 5));
    for (const path of paths) await put(path, `${path} after`);
    const made = await put("made.md", "new");
    const before = unwrap(await stub().versions({ limit: 1000, withContent: false })).length;

    let puts = 0;
    const cutOff = runInDurableObject(objectOf(meta), (_instance, { storage }) => {
      const later = () => void storage.setAlarm(Date.now() + 60_000);
      const dir = directoryOf(meta, storage, { later });
      const put: Directory["files"]["put"] = (...args) => {
        puts += 1;
        // Here the kill comes: between an intent and its commit.
        return puts <= 5 ? dir.files.put(...args) : new Promise(() => {});
      };
      return rewind({ ...dir, files: { ...dir.files, put } }, { time }, { actor });
    }).then(
      () => false,
      () => true,
    );
    while (puts <= 5) await new Promise((resolve) => setTimeout(resolve, 1));
    await abortAllDurableObjects();
    expect(await cutOff).toBe(true);
    // Its constructor does nothing: here is what the kill left.
    const left = await runInDurableObject(
      objectOf(meta),
      (_instance, { storage }) =>
        storage.sql.exec<{ n: number }>("SELECT count(*) AS n FROM rewind_steps").one().n,
    );
    expect(left).toBe(paths.length - 5);

    if (waker === "the alarm") expect(await runDurableObjectAlarm(objectOf(meta))).toBe(true);
    else await put("later.md", "later");
    for (const path of paths) {
      const found = unwrap(await stub().read(path));
      expect(new TextDecoder().decode(found?.bytes)).toBe(`${path} before`);
    }
    expect(made.status).toBe("written");
    expect(unwrap(await stub().read("made.md"))).toBeNull();
    const versions = unwrap(await stub().versions({ limit: 1000, withContent: false }));
    const own = versions.filter((version) => version.path !== "later.md");
    expect(own.length).toBe(before + paths.length + 1);
    expect(unwrap(await stub().importChanges())).toEqual([]);
    const again = unwrap(await stub().rewind({ time }, { actor }));
    expect(again.changed.map((receipt) => receipt.path)).toEqual(
      waker === "the alarm" ? [] : ["later.md"],
    );
  },
);

function contentOf(n: number): Uint8Array {
  return new TextEncoder().encode(`version ${n} `.padEnd(CONTENT_BYTES, "x"));
}

/** Bytes of contents among what a statement has read. */
function contentBytes(rows: readonly unknown[]): number {
  return rows
    .flatMap((row) => Object.values<unknown>(Object(row)))
    .reduce<number>((sum, value) => sum + (value instanceof ArrayBuffer ? value.byteLength : 0), 0);
}
