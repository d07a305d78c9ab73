// Undo costs what it undoes, not what was ever written, and tells only what it did.

import { env, runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { newId } from "../../../src/platform/ids.ts";
import { memdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { forgetState } from "../../../src/platform/state.ts";
import { sha256Hex } from "../../../src/shared/files/digest.ts";
import { addContent } from "./contents.ts";
import { directoryOf, objectOf } from "./directory-fixture.ts";
import { actor } from "./history-fixture.ts";
import { newStoreMeta } from "./meta-fixture.ts";
import { rewind } from "./rewind.ts";
import { addVersion } from "./versions.ts";
import { watchedSql } from "./watched-sql-fixture.ts";
import { write } from "./write.ts";

const CONTENT_BYTES = 24 * 1024;

test("a memory with 4,000 versions of 24 KB goes back after two deaths, by reading a handful of contents", async () => {
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
    const time = start + 1000;
    // The object dies before each commit of it in turn, and comes back; each try goes a little further.
    for (let nth = 1; nth <= 2; nth += 1) {
      let commits = 0;
      const commit: typeof dir.commit = (change) => {
        commits += 1;
        if (commits === nth) throw new Error("It died");
        return dir.commit(change);
      };
      await expect(rewind({ ...dir, commit }, { time }, { actor })).rejects.toThrow("It died");
      forgetState(dir.sql);
    }
    const sql = watchedSql(dir.sql, ({ rows }) => {
      read += contentBytes(rows);
    });
    const reply = await rewind({ ...dir, sql }, { time }, { actor });
    expect(reply).toMatchObject({ changed: [{ path: "a.md" }], skipped: [] });
    expect(await (await env.FILES.get(`${meta.prefix}a.md`))?.text()).toMatch(/^version 1000 /);
    expect(read).toBeGreaterThan(0);
    expect(read).toBeLessThanOrEqual(4 * CONTENT_BYTES);
  });
});

test("a memory that R2 does not let go stays, and is told as such", async () => {
  const meta = newStoreMeta();
  unwrap(await memdirStub(env, meta.owner, meta.id).open(meta));
  await runInDurableObject(objectOf(meta), async (_instance, { storage }) => {
    const dir = directoryOf(meta, storage);
    const time = Date.now() - 1000;
    for (const path of ["a.md", "kept.md"]) await write(dir, { path, bytes: contentOf(1), actor });
    const remove: typeof dir.files.delete = async (path, condition) =>
      path === "kept.md" ? { status: "conflict" } : dir.files.delete(path, condition);
    const files = { ...dir.files, delete: remove };
    const { changed, skipped } = await rewind({ ...dir, files }, { time }, { actor });
    expect(changed).toMatchObject([{ path: "a.md", operation: "deleted" }]);
    expect(skipped).toMatchObject([{ path: "kept.md", reason: expect.stringContaining("moment") }]);
  });
});

function contentOf(n: number): Uint8Array {
  return new TextEncoder().encode(`version ${n} `.padEnd(CONTENT_BYTES, "x"));
}

/** Bytes of contents among what a statement has read. */
function contentBytes(rows: readonly unknown[]): number {
  return rows
    .flatMap((row) => Object.values<unknown>(Object(row)))
    .reduce<number>((sum, value) => sum + (value instanceof ArrayBuffer ? value.byteLength : 0), 0);
}
