// What others put into R2 comes in by batches. One file that cannot come in holds up no other.

import { env, runInDurableObject } from "cloudflare:test";
import { beforeEach, expect, test } from "vitest";
import type { MemdirStub, StoreMeta } from "../../../src/platform/objects/memdir-rpc.ts";
import { memdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { createR2Files } from "../../../src/platform/r2/r2-files.ts";
import { createFaultyBucket } from "../../../test/contract/faulty-bucket.ts";
import { directoryOf, objectOf } from "./directory-fixture.ts";
import { importChanges } from "./import.ts";
import { newStoreMeta } from "./meta-fixture.ts";

/** More than one batch, with the bad one in the middle of the first. */
const FILES = Array.from({ length: 40 }, (_, n) => `${String(n).padStart(2, "0")}.md`);
const BAD = "13.md";
const GOOD = FILES.filter((path) => path !== BAD);

let meta: StoreMeta;
let stub: MemdirStub;
beforeEach(async () => {
  meta = newStoreMeta();
  stub = memdirStub(env, meta.owner, meta.id);
  unwrap(await stub.open(meta));
  for (const path of FILES) await env.FILES.put(meta.prefix + path, `text of ${path}`);
});

test("a file that fails in the transaction of its batch leaves nothing behind, and the others come in", async () => {
  await sql(
    `CREATE TRIGGER poison BEFORE INSERT ON heads WHEN NEW.path = '${BAD}'
     BEGIN SELECT RAISE(ABORT, 'poison'); END`,
  );
  expect(paths(unwrap(await stub.importChanges()))).toEqual(GOOD);
  await expectOnly(GOOD);
  // Nor does it come in twice what is here, or hold up what comes later.
  await env.FILES.put(`${meta.prefix}later.md`, "later");
  expect(paths(unwrap(await stub.importChanges()))).toEqual(["later.md"]);
  await sql("DROP TRIGGER poison");
  expect(paths(unwrap(await stub.importChanges()))).toEqual([BAD]);
  await expectOnly([...FILES, "later.md"]);
});

test("a file that cannot be read holds up no other, and comes in when it can", async () => {
  const error = new Error("get: Unspecified error (0)");
  const bucket = createFaultyBucket(env.FILES, { fail: [{ operation: "get", nth: 14, error }] });
  const files = createR2Files(bucket, meta.prefix, () => Promise.reject(error));
  await runInDurableObject(objectOf(meta), async (_instance, { storage }) => {
    const receipts = await importChanges(directoryOf(meta, storage, { files }));
    expect(receipts).toHaveLength(GOOD.length);
  });
  expect(unwrap(await stub.importChanges())).toHaveLength(1);
  await expectOnly(FILES);
});

/** These memories are all there are, each with one version and its own content. */
async function expectOnly(expected: readonly string[]): Promise<void> {
  const { heads } = unwrap(await stub.list({ prefix: "", limit: 100 }));
  expect(paths(heads)).toEqual(expected.toSorted());
  const versions = unwrap(await stub.versions({ limit: 100, withContent: true }));
  expect(paths(versions)).toEqual(expected.toSorted());
  const text = versions.map(({ path, bytes }) => [
    path,
    new TextDecoder().decode(bytes ?? undefined),
  ]);
  for (const [path, content] of text) {
    expect(content).toBe(path === "later.md" ? "later" : `text of ${path}`);
  }
  expect(await sql("SELECT n FROM contents")).toHaveLength(expected.length);
}

function paths(of: readonly { path: string | null }[]): (string | null)[] {
  return of.map(({ path }) => path).toSorted();
}

function sql(query: string): Promise<unknown[]> {
  return runInDurableObject(objectOf(meta), (_instance, { storage }) =>
    storage.sql.exec(query).toArray(),
  );
}
