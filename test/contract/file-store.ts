import { beforeEach, describe, expect, it } from "vitest";
import { MemdirError } from "../../src/shared/errors.ts";
import type { FileStore } from "../../src/shared/files/store.ts";

const encoder = new TextEncoder();
/** More than one answer of R2 to a list holds, which is 1,000. */
const COUNT = 1050;
const NAMES = [
  "notes 50%.md",
  "50%2e.md",
  "a#b.md",
  "a+b.md",
  "a b?c&d=e.md",
  "café.md",
  "会议.md",
  "🙂.md",
  ".claude/rules/ä.md",
  "..hidden.md",
  '~tilde\'s "quotes".md',
];

/** What every FileStore promises. `makeStore` gives an empty store each time. */
export function describeFileStore(name: string, makeStore: () => Promise<FileStore>): void {
  describe(name, () => {
    let store: FileStore;
    beforeEach(async () => {
      store = await makeStore();
    });

    describe("content", () => {
      it.each([
        ["an empty file", new Uint8Array()],
        ["binary", Uint8Array.from({ length: 256 }, (_, index) => index)],
        ["CJK", encoder.encode("会议记录")],
        ["emoji", encoder.encode("👩‍👩‍👧 🙂")],
        ["1 MB", new Uint8Array(1_048_576).fill(7)],
      ])("comes back byte for byte: %s", async (_, bytes) => {
        const put = await store.put("d/a.bin", bytes);
        const file = await store.get("d/a.bin");
        expect(same(file?.bytes, bytes)).toBe(true);
        expect(file).toMatchObject({ path: "d/a.bin", size: bytes.length });
        const { bytes: _bytes, ...entry } = file ?? { bytes };
        expect(await store.head("d/a.bin")).toEqual(entry);
        expect(put).toEqual({ status: "written", entry });
      });

      it("is not shared with the caller", async () => {
        const bytes = encoder.encode("one");
        await store.put("a", bytes);
        bytes[0] = 0;
        const first = await store.get("a");
        first?.bytes.fill(0);
        expect(await textOf(store, "a")).toBe("one");
      });

      it("has an unquoted etag that changes with it", async () => {
        const etags = [];
        for (const text of ["one", "two", "", "one "]) etags.push(await write(store, "a", text));
        expect(new Set(etags).size).toBe(4);
        expect(etags.join("")).not.toMatch(/["\s]/);
      });

      it("that is missing is undefined", async () => {
        await store.put("a/b", encoder.encode("x"));
        for (const path of ["missing", "a", "a/b/c", "A/b"]) {
          expect(await store.get(path)).toBeUndefined();
          expect(await store.head(path)).toBeUndefined();
        }
      });
    });

    describe("a conditional write", () => {
      it("happens where the etag still fits, and not where it is stale", async () => {
        const first = await write(store, "a", "1");
        const second = await store.put("a", encoder.encode("2"), { ifMatch: first });
        expect(second.status).toBe("written");
        expect(await store.put("a", encoder.encode("3"), { ifMatch: first })).toEqual(CONFLICT);
        expect(await textOf(store, "a")).toBe("2");
      });

      it("to a missing file is a conflict", async () => {
        const etag = await write(store, "other", "1");
        expect(await store.put("a", encoder.encode("1"), { ifMatch: etag })).toEqual(CONFLICT);
        expect(await store.get("a")).toBeUndefined();
      });

      it("takes no wildcard, no quotes and no weak mark", async () => {
        const etag = await write(store, "a", "1");
        for (const ifMatch of ["*", `"${etag}"`, `W/"${etag}"`, "", `${etag}, x`, "deadbeef"]) {
          expect(await store.put("a", encoder.encode("2"), { ifMatch })).toEqual(CONFLICT);
          expect(await store.delete("a", { ifMatch })).toEqual(CONFLICT);
        }
        expect(await textOf(store, "a")).toBe("1");
      });

      it("ifAbsent creates once, also over an empty file", async () => {
        const created = await store.put("a", new Uint8Array(), { ifAbsent: true });
        expect(created.status).toBe("written");
        expect(await store.put("a", encoder.encode("2"), { ifAbsent: true })).toEqual(CONFLICT);
        expect(await textOf(store, "a")).toBe("");
      });

      it("is won by exactly one of two at once", async () => {
        const etag = await write(store, "a", "0");
        for (const precondition of [{ ifMatch: etag }, { ifAbsent: true } as const]) {
          const path = "ifMatch" in precondition ? "a" : "b";
          const results = await Promise.all(
            ["1", "2"].map((text) => store.put(path, encoder.encode(text), precondition)),
          );
          expect(results.map((result) => result.status).sort()).toEqual(["conflict", "written"]);
        }
      });

      it("counts every one of 50 increments at once", { timeout: 60_000 }, async () => {
        await write(store, "n", "0");
        await Promise.all(Array.from({ length: 50 }, () => increment(store, "n")));
        expect(await textOf(store, "n")).toBe("50");
      });
    });

    describe("delete", () => {
      it("removes the file, and says when there was none", async () => {
        await write(store, "a", "1");
        expect(await store.delete("a")).toEqual({ status: "deleted" });
        expect(await store.get("a")).toBeUndefined();
        expect(await store.delete("a")).toEqual({ status: "missing" });
        expect(await store.delete("a", { ifMatch: "deadbeef" })).toEqual({ status: "missing" });
      });

      it("with ifMatch spares what has changed", async () => {
        const stale = await write(store, "a", "1");
        const etag = await write(store, "a", "2");
        expect(await store.delete("a", { ifMatch: stale })).toEqual(CONFLICT);
        expect(await textOf(store, "a")).toBe("2");
        expect(await store.delete("a", { ifMatch: etag })).toEqual({ status: "deleted" });
      });

      it("takes no neighbour and nothing below with it", async () => {
        for (const path of ["a", "ab", "a/b", "a-"]) await write(store, path, "1");
        await store.delete("a");
        expect(await pathsOf(store, "")).toEqual(["a-", "a/b", "ab"]);
      });
    });

    describe("list", () => {
      it("with a directory gives what is below it, not its neighbours", async () => {
        const paths = ["memory", "memory-old/b.md", "memory/a.md", "memory/d/c.md", "memory2/x.md"];
        for (const path of paths) await write(store, path, "1");
        expect(await pathsOf(store, "memory/")).toEqual(["memory/a.md", "memory/d/c.md"]);
        expect(await pathsOf(store, "memory/d/")).toEqual(["memory/d/c.md"]);
        expect(await pathsOf(store, "none/")).toEqual([]);
        expect(await pathsOf(store, "")).toEqual(paths);
      });

      it.each(["memory", "/", "/memory/"])("refuses the prefix %j", async (prefix) => {
        await expect(store.list({ prefix })).rejects.toMatchObject({ code: "invalid_request" });
        await expect(store.list({ prefix })).rejects.toBeInstanceOf(MemdirError);
      });

      it.each([0, -1, 1.5, Number.NaN])("refuses the limit %d", async (limit) => {
        await expect(store.list({ prefix: "", limit })).rejects.toMatchObject({
          code: "invalid_request",
        });
      });

      it("takes a limit beyond every page size as the largest page", async () => {
        await write(store, "a", "1");
        expect((await store.list({ prefix: "", limit: 99_999_999_999 })).entries).toHaveLength(1);
      });

      it("gives the entries that head gives", async () => {
        await write(store, "d/a.md", "12345");
        const { entries } = await store.list({ prefix: "d/" });
        expect(entries).toEqual([await store.head("d/a.md")]);
      });

      it("gives every name back as it was written, ready to be opened and deleted", {
        timeout: 60_000,
      }, async () => {
        for (const path of NAMES) await write(store, `d/${path}`, path);
        const paths = await pathsOf(store, "d/", 3);
        expect(paths).toEqual(NAMES.map((path) => `d/${path}`).sort());
        for (const path of paths) {
          expect(`d/${await textOf(store, path)}`).toBe(path);
          expect(await store.delete(path)).toEqual({ status: "deleted" });
        }
        expect(await pathsOf(store, "")).toEqual([]);
      });

      it("continues behind a path that no longer exists, and never answers it with the start", async () => {
        for (const path of ["a", "c"]) await write(store, path, "1");
        expect((await store.list({ prefix: "", after: "b" })).entries.map((e) => e.path)).toEqual([
          "c",
        ]);
        expect(await store.list({ prefix: "", after: "zzz" })).toEqual({ entries: [] });
      });

      it("pages to the end of more files than one page of R2 holds, while files come and go", {
        timeout: 60_000,
      }, async () => {
        const all = Array.from({ length: COUNT }, (_, i) => `d/${String(i).padStart(4, "0")}.md`);
        for (let i = 0; i < all.length; i += 50) {
          await Promise.all(all.slice(i, i + 50).map((path) => write(store, path, "1")));
        }
        expect(await pathsOf(store, "d/")).toEqual(all);

        const seen: string[] = [];
        let after: string | undefined;
        let pages = 0;
        do {
          const page = await store.list({ prefix: "d/", limit: 70, ...(after && { after }) });
          seen.push(...page.entries.map((entry) => entry.path));
          after = page.next;
          pages += 1;
          // Behind the reader: one deleted, one added. Ahead: the last but `pages` deleted.
          if (pages <= 5) {
            await store.delete(`d/${String(pages).padStart(4, "0")}.md`);
            await write(store, `d/0000-${pages}.md`, "new");
            await store.delete(`d/${String(COUNT - pages).padStart(4, "0")}.md`);
          }
        } while (after !== undefined && pages < 100);
        expect(seen).toEqual(all.slice(0, COUNT - 5));
        expect(pages).toBeLessThan(30);
      });
    });
  });
}

const CONFLICT = { status: "conflict" };

async function write(store: FileStore, path: string, text: string): Promise<string> {
  const result = await store.put(path, encoder.encode(text));
  if (result.status === "conflict") throw new Error(`Unconditional put of ${path} was refused`);
  return result.entry.etag;
}

async function textOf(store: FileStore, path: string): Promise<string | undefined> {
  const file = await store.get(path);
  return file === undefined ? undefined : new TextDecoder().decode(file.bytes);
}

async function pathsOf(store: FileStore, prefix: string, limit = 1000): Promise<string[]> {
  const paths: string[] = [];
  let after: string | undefined;
  do {
    const page = await store.list({ prefix, limit, ...(after !== undefined && { after }) });
    paths.push(...page.entries.map((entry) => entry.path));
    after = page.next;
  } while (after !== undefined);
  return paths.sort();
}

async function increment(store: FileStore, path: string): Promise<void> {
  for (;;) {
    const file = await store.get(path);
    if (file === undefined) throw new Error(`${path} is gone`);
    const next = Number(new TextDecoder().decode(file.bytes)) + 1;
    const result = await store.put(path, encoder.encode(String(next)), { ifMatch: file.etag });
    if (result.status === "written") return;
  }
}

function same(left: Uint8Array | undefined, right: Uint8Array): boolean {
  return left?.length === right.length && left.every((byte, index) => byte === right[index]);
}
