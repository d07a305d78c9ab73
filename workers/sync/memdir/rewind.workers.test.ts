// Undo costs what it undoes, not what was ever written, and a kill in the middle does not stop it.

import {
  abortAllDurableObjects,
  env,
  runDurableObjectAlarm,
  runInDurableObject,
} from "cloudflare:test";
import { expect, test } from "vitest";
import { newId } from "../../../src/platform/ids.ts";
import type { StoreMeta } from "../../../src/platform/objects/memdir-rpc.ts";
import { memdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { storeObjectName } from "../../../src/platform/objects/store-owner.ts";
import { historyPrefix, storeFiles } from "../../../src/platform/r2/mount-table.ts";
import { sha256Hex } from "../../../src/shared/files/digest.ts";
import { addContent } from "./contents.ts";
import type { Directory } from "./directory.ts";
import { newStoreMeta } from "./meta-fixture.ts";
import { rewind } from "./rewind.ts";
import { addVersion } from "./versions.ts";
import { write } from "./write.ts";

const actor = { type: "user", userId: "u" } as const;
const CONTENT_BYTES = 24 * 1024;

test("a memory with 4,000 versions of 24 KB goes back by reading a handful of contents", async () => {
  const meta = newStoreMeta();
  unwrap(await memdirStub(env, meta.owner, meta.id).open(meta));
  await runInDurableObject(objectOf(meta), async (_instance, { storage }) => {
    const counter = { bytes: 0 };
    const dir = directoryOf(meta, storage);
    const first = await write(dir, { path: "a.md", bytes: contentOf(0), actor });
    if (first.status !== "written") throw new Error(first.status);
    const { memoryId } = first.receipt;
    const start = Date.now();
    for (let n = 1; n < 4000; n += 1) {
      const bytes = contentOf(n);
      const content = { bytes, sha256: await sha256Hex(bytes), size: bytes.length };
      addContent(dir.sql, content);
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
    const counted = { ...dir, sql: countingSql(dir.sql, counter) };
    const reply = await rewind(counted, { time: start + 1000 }, { actor });
    expect(reply).toMatchObject({ changed: [{ path: "a.md" }], skipped: [] });
    expect(await (await env.FILES.get(`${meta.prefix}a.md`))?.text()).toMatch(/^version 1000 /);
    expect(counter.bytes).toBeGreaterThan(0);
    expect(counter.bytes).toBeLessThanOrEqual(4 * CONTENT_BYTES);
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
      const dir = directoryOf(meta, storage);
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

function directoryOf(meta: StoreMeta, storage: DurableObjectStorage): Directory {
  return {
    sql: storage.sql,
    files: storeFiles(env.FILES, meta.prefix),
    spilled: storeFiles(env.FILES, historyPrefix(meta.owner, meta.id)),
    sizes: { spill: 1e9, most: 1e9 },
    meta,
    scan: async () => [],
    now: () => Date.now(),
    commit: (change) => storage.transactionSync(change),
    later: () => void storage.setAlarm(Date.now() + 60_000),
  };
}

function objectOf(meta: StoreMeta) {
  return env.MEMDIR.get(env.MEMDIR.idFromName(storeObjectName(meta.owner, meta.id)));
}

/** The same rows; `counter` sums up the contents that leave the database. */
function countingSql(sql: SqlStorage, counter: { bytes: number }): SqlStorage {
  const exec: SqlStorage["exec"] = (query, ...values) => {
    const cursor = sql.exec<never>(query, ...values);
    const rows = cursor.toArray();
    for (const row of rows) {
      for (const value of Object.values<unknown>(row)) {
        if (value instanceof ArrayBuffer) counter.bytes += value.byteLength;
      }
    }
    return Object.assign(Object.create(cursor), {
      toArray: () => rows,
      one: () => rows[0],
      [Symbol.iterator]: () => rows[Symbol.iterator](),
    });
  };
  return new Proxy(sql, {
    get: (target, name) => (name === "exec" ? exec : Reflect.get(target, name, target)),
  });
}
