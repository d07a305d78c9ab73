import { env } from "cloudflare:test";
import { afterEach, describe, expect, it } from "vitest";
import {
  createFaultyBucket,
  type Faults,
  type FaultyBucket,
} from "../../../test/contract/faulty-bucket.ts";
import { describeFileStore } from "../../../test/contract/file-store.ts";
import { MemdirError } from "../../shared/errors.ts";
import type { FileStore } from "../../shared/files/store.ts";
import { R2_ATTEMPTS } from "../../shared/limits/files.ts";
import { createR2Files } from "./r2-files.ts";
import { decodeKeyPart, encodeKeyPart } from "./r2-key.ts";

declare global {
  namespace Cloudflare {
    interface Env {
      FILES: R2Bucket;
    }
  }
}

const encoder = new TextEncoder();
const ONE = encoder.encode("one");
const TWO = encoder.encode("two");
/** Unique, so that nothing depends on storage being emptied between tests. */
const newPrefix = () => `t/${crypto.randomUUID()}/memory/`;

describeFileStore("R2 files", async () => createR2Files(env.FILES, newPrefix()));

describe("R2 files under faults", () => {
  let bucket: FaultyBucket = createFaultyBucket(env.FILES);
  let clock = 0;
  const pauses: number[] = [];

  function open(faults: Faults = {}, prefix = newPrefix()): FileStore {
    bucket = createFaultyBucket(env.FILES, faults);
    pauses.length = 0;
    return createR2Files(bucket, prefix, async (milliseconds) => {
      pauses.push(milliseconds);
      clock += milliseconds;
    });
  }

  afterEach(() => {
    expect([...bucket.unread], "R2-09: no body stays unread").toEqual([]);
  });

  it("R2-02: a condition that fails is a conflict, never a success", async () => {
    const store = open();
    await store.put("a", ONE);
    expect(await store.put("a", TWO, { ifMatch: "deadbeef" })).toEqual({ status: "conflict" });
    expect(await store.put("a", TWO, { ifAbsent: true })).toEqual({ status: "conflict" });
    expect(bucket.calls.put).toBe(3);
  });

  it("R2-03: nothing is read from the metadata of a listing, which is empty", async () => {
    const prefix = newPrefix();
    const store = open({}, prefix);
    await store.put("a", ONE);
    expect((await store.list({ prefix: "" })).entries).toEqual([await store.head("a")]);
    expect(bucket.lists[0]).not.toHaveProperty("include");
    const page = await env.FILES.list({ prefix, include: ["customMetadata"] });
    expect(page.objects[0]?.customMetadata?.sha256).toHaveLength(64);
  });

  it("R2-04: short pages are not the end", { timeout: 60_000 }, async () => {
    const store = open({ pageSizes: [120, 300, 30] });
    const paths = Array.from({ length: 450 }, (_, i) => `${String(i).padStart(4, "0")}.md`);
    for (let i = 0; i < paths.length; i += 50) {
      await Promise.all(paths.slice(i, i + 50).map((path) => store.put(path, ONE)));
    }
    const seen: string[] = [];
    let after: string | undefined;
    do {
      const page = await store.list({ prefix: "", after });
      seen.push(...page.entries.map((entry) => entry.path));
      after = page.next;
      if (after === undefined) break;
      await store.delete(seen.at(-1) ?? "");
      await store.put(`${after}.new`, ONE);
      await store.delete(`${after}.new`);
    } while (bucket.calls.list < 20);
    expect(seen).toEqual(paths);
  });

  it("R2-04: a page full of keys that are not ours is not the end either", async () => {
    const prefix = newPrefix();
    const store = open({ pageSizes: [1] }, prefix);
    for (const key of ["%zz", "a//b", "a%41", "..", "."]) await env.FILES.put(prefix + key, "x");
    await store.put("z.md", ONE);
    const paths: string[] = [];
    let page = await store.list({ prefix: "" });
    paths.push(...page.entries.map((entry) => entry.path));
    while (page.next !== undefined) {
      page = await store.list({ prefix: "", after: page.next });
      paths.push(...page.entries.map((entry) => entry.path));
    }
    expect(paths).toEqual(["z.md"]);
  });

  it("R2-05: a bad limit never reaches R2, and a bad position is no empty list", async () => {
    const store = open();
    await store.put("b", ONE);
    for (const limit of [0, -1, 1.5, Number.NaN]) {
      await expect(store.list({ prefix: "", limit })).rejects.toMatchObject({
        code: "invalid_request",
      });
    }
    expect(bucket.calls.list).toBe(0);
    const page = await store.list({ prefix: "", limit: 1001, after: "Z2FyYmFnZQ==" });
    expect(page.entries).toHaveLength(1);
    await expect(store.list({ prefix: "", after: "\ud800" })).rejects.toBeInstanceOf(MemdirError);
  });

  it("R2-06: every rewrite carries the metadata of its own content", async () => {
    const prefix = newPrefix();
    const store = open({}, prefix);
    await store.put("a", ONE);
    const first = (await env.FILES.head(`${prefix}a`))?.customMetadata;
    await store.put("a", TWO);
    const second = (await env.FILES.head(`${prefix}a`))?.customMetadata;
    expect(Object.keys(first ?? {})).toEqual(["sha256"]);
    expect(Object.keys(second ?? {})).toEqual(["sha256"]);
    expect(first).not.toEqual(second);
  });

  it("R2-07: four edits of one index within a second are all there in the end", async () => {
    const store = open({ writeEvery: { milliseconds: 1000, now: () => clock } });
    await store.put("MEMORY.md", encoder.encode("#"));
    const edit = async (line: string): Promise<void> => {
      const file = await store.get("MEMORY.md");
      const text = `${new TextDecoder().decode(file?.bytes)}\n${line}`;
      const result = await store.put("MEMORY.md", encoder.encode(text), {
        ifMatch: file?.etag ?? "",
      });
      if (result.status === "conflict") return edit(line);
    };
    for (const line of ["a", "b", "c", "d"]) await edit(line);
    const index = new TextDecoder().decode((await store.get("MEMORY.md"))?.bytes);
    expect(index).toBe("#\na\nb\nc\nd");
    expect(pauses.length).toBeGreaterThanOrEqual(4);
  });

  it("R2-07: refusal for rate ends after a bounded number of tries, without a success", async () => {
    const store = open({ writeEvery: { milliseconds: 1e12, now: () => clock } });
    await store.put("a", ONE);
    await expect(store.put("a", TWO)).rejects.toMatchObject({ code: "unavailable", path: "a" });
    expect(bucket.calls.put).toBe(1 + R2_ATTEMPTS);
    expect(pauses).toHaveLength(R2_ATTEMPTS - 1);
    expect((await store.get("a"))?.bytes).toEqual(ONE);
  });

  it.each([
    "Too many subrequests.",
    "put: Your metadata headers exceed. (10012)",
    "secret t/acme/x",
  ])("R2-07: %j is not retried, and its text stays inside", async (message) => {
    const store = open({ fail: [{ operation: "put", nth: 1, error: new Error(message) }] });
    const error = await store.put("d/a.md", ONE).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(MemdirError);
    expect(error).toMatchObject({
      code: "unavailable",
      message: expect.stringContaining('"d/a.md"'),
    });
    expect(String(error)).not.toMatch(/t\/|subrequests|metadata|R2|10012/);
    expect(bucket.calls.put).toBe(1);
  });

  it.each(["get", "head", "list", "put", "delete"] as const)(
    "a passing failure of %s is retried",
    async (operation) => {
      const error = new Error("We encountered an internal error. Please try again. (10001)");
      const store = open({ fail: [{ operation, nth: operation === "put" ? 2 : 1, error }] });
      await store.put("a", ONE);
      await store.put("a", TWO);
      expect((await store.get("a"))?.bytes).toEqual(TWO);
      expect((await store.list({ prefix: "" })).entries).toHaveLength(1);
      expect(await store.head("a")).toBeDefined();
      expect(await store.delete("a")).toEqual({ status: "deleted" });
      expect(pauses).toHaveLength(1);
    },
  );

  it("a put that took effect before it failed is recognised, and one by others is not", async () => {
    const error = new Error("Network connection lost.");
    const mine = open({ fail: [{ operation: "put", nth: 1, error, when: "after" }] });
    expect(await mine.put("a", ONE, { ifAbsent: true })).toMatchObject({ status: "written" });
    const prefix = newPrefix();
    const late = open({ fail: [{ operation: "put", nth: 1, error }] }, prefix);
    await createR2Files(env.FILES, prefix).put("a", TWO);
    expect(await late.put("a", ONE, { ifAbsent: true })).toEqual({ status: "conflict" });
  });

  it("R2-08: the limit of a key counts its bytes with the prefix, before any call", async () => {
    const prefix = newPrefix();
    const room = 1024 - encoder.encode(prefix).length;
    const store = open({}, prefix);
    const fits = `${"d/".repeat(30)}${"x".repeat(room - 60)}`;
    await store.put(fits, ONE);
    expect((await store.get(fits))?.bytes).toEqual(ONE);
    expect((await store.list({ prefix: "d/".repeat(30) })).entries[0]?.path).toBe(fits);
    const before = { ...bucket.calls };
    for (const path of [`${fits}x`, "记".repeat(342), `${"%".repeat(400)}`]) {
      const calls = [store.put(path, ONE), store.get(path), store.head(path), store.delete(path)];
      for (const result of await Promise.allSettled(calls)) {
        const reason = result.status === "rejected" ? result.reason : undefined;
        expect(reason).toMatchObject({ code: "invalid_request", path });
        expect(String(reason)).toContain("1024 bytes");
        expect(String(reason)).not.toContain(prefix);
      }
    }
    expect(bucket.calls).toEqual(before);
  });

  it("R2-09: after 200 reads no body is open", { timeout: 60_000 }, async () => {
    const store = open();
    await Promise.all(Array.from({ length: 200 }, (_, i) => store.put(`${i}`, ONE)));
    await Promise.all(Array.from({ length: 200 }, (_, i) => store.get(`${i}`)));
    expect(bucket.calls.get).toBe(200);
  });

  it("R2-11: a prefix without its slash is refused at once", async () => {
    for (const prefix of ["", "t/p/memory"])
      expect(() => createR2Files(env.FILES, prefix)).toThrow();
    const root = `t/${crypto.randomUUID()}/`;
    const memory = open({}, `${root}p/memory/`);
    await memory.put("a.md", ONE);
    await open({}, `${root}p/memory-old/`).put("b.md", ONE);
    await open({}, `${root}p2/memory/`).put("c.md", ONE);
    expect((await memory.list({ prefix: "" })).entries.map((entry) => entry.path)).toEqual([
      "a.md",
    ]);
  });

  it("R2-12: the etag is the one without quotes, and another spelling never throws", async () => {
    const prefix = newPrefix();
    const store = open({}, prefix);
    await store.put("a", ONE);
    const object = await env.FILES.head(`${prefix}a`);
    expect((await store.head("a"))?.etag).toBe(object?.etag);
    const quoted = object?.httpEtag ?? "";
    expect(await store.put("a", TWO, { ifMatch: quoted })).toEqual({ status: "conflict" });
  });

  it("TOOL-14: a body that comes short is a failure, not a file", async () => {
    const store = open({ body: () => new ArrayBuffer(0) });
    await store.put("a", ONE);
    await expect(store.get("a")).rejects.toMatchObject({ code: "unavailable" });
  });

  it("TOOL-14: what is stored short is not a success", async () => {
    const store = open({ stored: (bytes) => bytes.slice(0, 1) });
    await expect(store.put("a", ONE)).rejects.toMatchObject({ code: "unavailable" });
  });
});

describe("encodeKeyPart", () => {
  it.each([
    ["notes 50%.md", "notes 50%25.md"],
    ["a/b", "a%2Fb"],
    ["a\\b", "a%5Cb"],
    ["..", "%2E%2E"],
    [".", "%2E"],
    ["..a", "..a"],
    ["a\nb\u0085", "a%0Ab%C2%85"],
    ["会议+#🙂.md", "会议+#🙂.md"],
  ])("makes %j into %j and back", (part, encoded) => {
    expect(encodeKeyPart(part)).toBe(encoded);
    expect(decodeKeyPart(encoded)).toBe(part);
  });

  it("refuses what has no name of its own in R2", () => {
    for (const part of ["", "a\ud800"]) expect(() => encodeKeyPart(part)).toThrow(MemdirError);
  });

  it.each(["%zz", "%41", "..", "a/b", "%2e%2e", "", "%FF", "a\\b"])("never made %j", (encoded) => {
    expect(decodeKeyPart(encoded)).toBeUndefined();
  });
});
