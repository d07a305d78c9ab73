// R2 takes one write a second a key, and may fail in between: what was acknowledged holds here, and
// reaches R2 with its newest content.

import { env, runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { memdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { createR2Files } from "../../../src/platform/r2/r2-files.ts";
import type { Receipt } from "../../../src/shared/files/receipt.ts";
import { createFaultyBucket, type Faults } from "../../../test/contract/faulty-bucket.ts";
import { withContents } from "./contents.ts";
import type { Directory } from "./directory.ts";
import { directoryOf, objectOf } from "./directory-fixture.ts";
import { importChanges } from "./import.ts";
import { newStoreMeta } from "./meta-fixture.ts";
import { emptyOutbox } from "./outbox.ts";
import { redact } from "./redact.ts";
import { findVersions } from "./versions.ts";
import { remove, write } from "./write.ts";

const actor = { type: "user", userId: "u" } as const;
const down = new Error("put: Unspecified error (0)");

test("writes of a hot key are all kept as versions, and R2 gets the newest when it takes one again", async () => {
  let clock = 1_000_000;
  await inside({ writeEvery: { milliseconds: 1000, now: () => clock } }, async (dir, r2) => {
    for (let n = 1; n <= 5; n += 1) {
      const reply = await write(dir, { path: "MEMORY.md", bytes: bytes(`line ${n}`), actor });
      expect(reply.status).toBe("written");
    }
    expect(await r2("MEMORY.md")).toBe("line 1");
    expect(await emptyOutbox(dir)).toBe(false);
    clock += 1001;
    expect(await emptyOutbox(dir)).toBe(true);
    expect(await r2("MEMORY.md")).toBe("line 5");
    expect(await versionsOf(dir)).toEqual(["line 5", "line 4", "line 3", "line 2", "line 1"]);
    expect(await importChanges(dir)).toEqual([]);
  });
});

test("a put that failed after it took effect is known as ours: no foreign version, no second write", async () => {
  await inside(
    { fail: [{ operation: "put", nth: 1, error: down, when: "after" }] },
    async (dir, r2) => {
      expect(await write(dir, { path: "a.md", bytes: bytes("one"), actor })).toMatchObject({
        status: "written",
      });
      expect(await write(dir, { path: "a.md", bytes: bytes("two"), actor })).toMatchObject({
        status: "written",
      });
      expect(await emptyOutbox(dir)).toBe(true);
      expect(await r2("a.md")).toBe("two");
      expect(await versionsOf(dir)).toEqual(["two", "one"]);
      expect(findVersions(dir.sql, query).map((version) => version.actor.type)).toEqual([
        "user",
        "user",
      ]);
    },
  );
});

test("what somebody put into R2 while ours waited is kept as a version, and ours holds", async () => {
  let clock = 1_000_000;
  await inside(
    { writeEvery: { milliseconds: 1000, now: () => clock } },
    async (dir, r2, prefix) => {
      await write(dir, { path: "a.md", bytes: bytes("one"), actor });
      await write(dir, { path: "a.md", bytes: bytes("two"), actor });
      await env.FILES.put(`${prefix}a.md`, "foreign");
      clock += 1001;
      while (!(await emptyOutbox(dir))) clock += 1001;
      expect(await r2("a.md")).toBe("two");
      expect(await versionsOf(dir)).toEqual(["two", "foreign", "two", "one"]);
    },
  );
});

test("a memory that is deleted while R2 still has it does not come back", async () => {
  await inside(
    { fail: [{ operation: "put", nth: 1, error: down, when: "after" }] },
    async (dir, r2) => {
      await write(dir, { path: "a.md", bytes: bytes("one"), actor });
      expect(await remove(dir, { path: "a.md", actor })).toMatchObject({ status: "removed" });
      while (!(await emptyOutbox(dir))) await new Promise((resolve) => setTimeout(resolve, 1));
      expect(await r2("a.md")).toBeUndefined();
      expect(await importChanges(dir)).toEqual([]);
      expect(await versionsOf(dir)).toEqual([undefined, "one"]);
    },
  );
});

test("a deleted memory whose version is redacted while R2 still has it does not come back", async () => {
  await inside(
    { fail: [{ operation: "put", nth: 1, error: down, when: "after" }] },
    async (dir, r2) => {
      const { versionId } = await written(dir, "a.md", "one");
      expect(await remove(dir, { path: "a.md", actor })).toMatchObject({ status: "removed" });
      await redact(dir, versionId, actor);
      expect(await r2("a.md")).toBe("one");
      expect(await importChanges(dir)).toEqual([]);
      while (!(await emptyOutbox(dir))) await new Promise((resolve) => setTimeout(resolve, 1));
      expect(await r2("a.md")).toBeUndefined();
      expect(await importChanges(dir)).toEqual([]);
      expect(await versionsOf(dir)).toEqual([undefined, undefined]);
      // What somebody else puts there is theirs, also with the same words.
      await env.FILES.put(`${dir.meta.prefix}a.md`, "one");
      expect(await importChanges(dir)).toMatchObject([{ path: "a.md", operation: "created" }]);
    },
  );
});

test("a redacted version that R2 still has becomes no version of somebody else's", async () => {
  let clock = 1_000_000;
  await inside(
    {
      fail: [{ operation: "put", nth: 2, error: down, when: "after" }],
      writeEvery: { milliseconds: 1000, now: () => clock },
    },
    async (dir, r2) => {
      await written(dir, "a.md", "one");
      clock += 1001;
      const { versionId } = await written(dir, "a.md", "two");
      await written(dir, "a.md", "three");
      await redact(dir, versionId, actor);
      await written(dir, "a.md", "four");
      expect(await r2("a.md")).toBe("two");
      for (clock += 1001; !(await emptyOutbox(dir)); ) clock += 1001;
      expect(await r2("a.md")).toBe("four");
      expect(await versionsOf(dir)).toEqual(["four", "three", undefined, "one"]);
    },
  );
});

async function written(dir: Directory, path: string, text: string): Promise<Receipt> {
  const reply = await write(dir, { path, bytes: bytes(text), actor });
  if (reply.status !== "written") throw new Error(reply.status);
  return reply.receipt;
}

const query = { limit: 100, withContent: true };

async function versionsOf(dir: Directory): Promise<(string | undefined)[]> {
  const versions = await withContents(dir, findVersions(dir.sql, query));
  return versions.map(({ bytes }) => (bytes ? new TextDecoder().decode(bytes) : undefined));
}

/** Runs over the rows of a real object, with a bucket that fails on purpose. */
async function inside(
  faults: Faults,
  work: (
    dir: Directory,
    r2: (path: string) => Promise<string | undefined>,
    prefix: string,
  ) => Promise<void>,
): Promise<void> {
  const meta = newStoreMeta({ kind: "custom" });
  const { id, prefix } = meta;
  unwrap(await memdirStub(env, meta.owner, id).open(meta));
  const bucket = createFaultyBucket(env.FILES, faults);
  await runInDurableObject(objectOf(meta), async (_instance, { storage }) => {
    const dir = directoryOf(meta, storage, {
      files: createR2Files(bucket, prefix, () => Promise.reject(down)),
      spilled: createR2Files(bucket, `${prefix}history/`, () => Promise.reject(down)),
    });
    const r2 = async (path: string) => (await env.FILES.get(prefix + path))?.text();
    await work(dir, r2, prefix);
  });
}

function bytes(content: string): Uint8Array {
  return new TextEncoder().encode(content);
}
