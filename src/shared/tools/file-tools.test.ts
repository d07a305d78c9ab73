// The cases of cases/file-tools.md, by their numbers.

import { describe, expect, it } from "vitest";
import { MemdirError } from "../errors.ts";
import type { FileStore } from "../files/store.ts";
import { createFileTools } from "./file-tools.ts";
import { createMemory, mountOf, openSession, store, stored } from "./tool-fixture.ts";

async function pathsOf(files: FileStore): Promise<string[]> {
  return (await files.list({ prefix: "" })).entries.map((entry) => entry.path);
}

describe("the file tools", () => {
  it("come in a fixed order with the names that others rely on", () => {
    const { env } = openSession(mountOf(createMemory()));
    const tools = createFileTools(env);
    const fields = tools.map(({ name, kind, input_schema }) => {
      const properties = input_schema.properties;
      return [name, kind, Object.keys(typeof properties === "object" ? (properties ?? {}) : {})];
    });
    expect(fields).toEqual([
      ["Read", "read", ["file_path", "offset", "limit"]],
      ["Write", "write", ["file_path", "content"]],
      ["Edit", "write", ["file_path", "old_string", "new_string", "replace_all"]],
      ["Delete", "write", ["file_path"]],
      ["Glob", "read", ["pattern", "path"]],
      ["Grep", "read", ["pattern", "path", "glob", "ignore_case"]],
    ]);
    for (const tool of tools) {
      expect(tool.input_schema).toMatchObject({ type: "object", additionalProperties: false });
      expect(tool.input_schema).not.toHaveProperty("$schema");
      expect(tool.description).not.toBe("");
    }
    expect(tools[2]?.input_schema.required).toEqual(["file_path", "old_string"]);
    expect(JSON.stringify(createFileTools(env))).toBe(JSON.stringify(tools));
  });

  it("TOOL-01: a sibling with the same prefix is outside", async () => {
    const files = createMemory();
    await store(files, "sub/x.md", "kept");
    const session = openSession(mountOf(files, { at: "/memories" }));
    for (const path of ["/memories-evil/x.md", "/memories_backup/f.txt", "/memoriessub"]) {
      for (const name of ["Read", "Delete"]) {
        expect((await session.call(name, { file_path: path })).isError).toBe(true);
      }
      const write = await session.call("Write", { file_path: path, content: "x" });
      expect(write.content).toContain("outside");
      const edit = { file_path: path, old_string: "kept", new_string: "" };
      expect((await session.call("Edit", edit)).isError).toBe(true);
    }
    expect(await pathsOf(files)).toEqual(["sub/x.md"]);
  });

  it.each([
    "/memories",
    "/memories/",
    "/memories//",
    "/memories/.",
    "/memories/sub/..",
    "/memories/./",
    "",
    "MEMORY.md/..",
    "/",
  ])("TOOL-02: the root spelled %j is not deleted, written or edited", async (file_path) => {
    const files = createMemory();
    await store(files, "sub/x.md", "x");
    await store(files, "MEMORY.md", "x");
    const session = openSession(mountOf(files, { at: "/memories" }));
    expect((await session.call("Delete", { file_path })).isError).toBe(true);
    expect((await session.call("Write", { file_path, content: "y" })).isError).toBe(true);
    const edit = { file_path, old_string: "x", new_string: "y" };
    expect((await session.call("Edit", edit)).isError).toBe(true);
    expect(await pathsOf(files)).toEqual(["MEMORY.md", "sub/x.md"]);
    expect(await stored(files, "MEMORY.md")).toBe("x");
  });

  it("TOOL-03: no dot segment survives, and one file has one key", async () => {
    const files = createMemory();
    const session = openSession(mountOf(files));
    const bad = [
      "../../t2/secret.md",
      "a/../../p2/x.md",
      "..",
      "foo/..",
      "a\\..\\..\\x.md",
      "%2e%2e/x.md",
      "．．/x.md",
    ];
    for (const path of bad.flatMap((raw) => [raw, `/memory/${raw}`])) {
      const result = await session.call("Write", { file_path: path, content: "x" });
      expect(result).toMatchObject({ isError: true, notes: [] });
    }
    expect(await pathsOf(files)).toEqual([]);
    await session.call("Write", { file_path: "/memory/a/./b.md", content: "1" });
    await session.call("Write", { file_path: "/memory/a//b.md", content: "2" });
    await session.call("Write", { file_path: "/memory/a/b.md", content: "3" });
    expect(await pathsOf(files)).toEqual(["a/b.md"]);
    expect(await stored(files, "a/b.md")).toBe("3");
  });

  it("TOOL-05: two hits on one line, or overlapping ones, are an error", async () => {
    const files = createMemory();
    const session = openSession(mountOf(files));
    for (const [text, old_string] of [
      ["foo foo\n", "foo"],
      ["aaa", "aa"],
    ] as const) {
      await store(files, "a", text);
      const result = await session.call("Edit", {
        file_path: "/memory/a",
        old_string,
        new_string: "x",
      });
      expect(result).toMatchObject({
        isError: true,
        content: expect.stringContaining("2 matches"),
      });
      expect(await stored(files, "a")).toBe(text);
    }
  });

  it("TOOL-06: a text over several lines matches, and no new_string deletes", async () => {
    const files = createMemory();
    const session = openSession(mountOf(files));
    await store(files, "a", "# T\n## Notes\n- (none yet)\nprice");
    const file_path = "/memory/a";
    const old_string = "## Notes\n- (none yet)";
    await session.call("Edit", { file_path, old_string, new_string: "x" });
    const result = await session.call("Edit", { file_path, old_string: "price" });
    expect(await stored(files, "a")).toBe("# T\nx\n");
    expect(result.content).not.toContain("undefined");
  });

  it.each(["$$100 USD", "$&", "$`x", "$'y", "$1", "$<n>"])(
    "TOOL-07: %j is inserted as it is",
    async (new_string) => {
      const files = createMemory();
      await store(files, "a", "A\nB\ntarget\nC");
      const session = openSession(mountOf(files));
      await session.call("Edit", { file_path: "/memory/a", old_string: "target", new_string });
      expect(await stored(files, "a")).toBe(`A\nB\n${new_string}\nC`);
    },
  );

  it.each([
    new Error("get: internal error (10001) at t/acme/u/ann/memory/a.md in bucket memdir-prod"),
    new MemdirError("unavailable", 'Cannot read "a.md": the file storage failed', "a.md"),
    "t/acme thrown as text",
  ])(
    "TOOL-08: a storage error becomes a short result with the logical path only",
    async (error) => {
      const fails = () => Promise.reject(error);
      const working = createMemory();
      await store(working, "a.md", "old");
      const broken: FileStore = { get: fails, head: fails, put: fails, delete: fails, list: fails };
      const late: FileStore = { ...working, put: fails, delete: fails };
      const calls: [string, object][] = [
        ["Read", { file_path: "/memory/a.md" }],
        ["Write", { file_path: "/memory/b.md", content: "x" }],
        ["Edit", { file_path: "/memory/a.md", old_string: "old", new_string: "new" }],
        ["Delete", { file_path: "/memory/a.md" }],
        ["Glob", { pattern: "*", path: "/memory" }],
        ["Grep", { pattern: "x", path: "/memory" }],
      ];
      for (const files of [broken, late]) {
        const session = openSession(mountOf(files));
        for (const [name, input] of calls) {
          if (files === late && ["Read", "Glob", "Grep"].includes(name)) continue;
          const result = await session.call(name, input);
          expect(result).toMatchObject({ isError: true, notes: [] });
          expect(result.content).toContain("/memory");
          expect(result.content).not.toMatch(/t\/acme|bucket|10001|\bat t\b|undefined/);
          expect(result.content.length).toBeLessThan(300);
        }
      }
    },
  );

  it("TOOL-08: a key that is too long says so by its path", async () => {
    const refuses: FileStore = {
      ...createMemory(),
      get: () =>
        Promise.reject(new MemdirError("invalid_request", "Cannot use path: 9 bytes too long")),
    };
    const session = openSession(mountOf(refuses));
    const result = await session.call("Write", { file_path: "/memory/long.md", content: "x" });
    expect(result.content).toMatch(/\/memory\/long\.md.*too long/);
  });

  it("TOOL-09: a whole-file Write from a stale copy is refused, an Edit keeps the others' line", async () => {
    const files = createMemory();
    const s1 = openSession(mountOf(files));
    const s2 = openSession(mountOf(files));
    const file_path = "/memory/rules.md";
    await store(files, "rules.md", "one\ntwo\nthree\n");
    await s1.call("Read", { file_path });
    await s2.call("Edit", { file_path, old_string: "two", new_string: "TWO" });
    const write = await s1.call("Write", { file_path, content: "one\ntwo\n3\n" });
    expect(write).toMatchObject({
      isError: true,
      content: expect.stringContaining("changed since you read it"),
    });
    await s1.call("Edit", { file_path, old_string: "three", new_string: "3" });
    expect(await stored(files, "rules.md")).toBe("one\nTWO\n3\n");
    const again = await s1.call("Write", { file_path, content: "one\ntwo\n3\n" });
    expect(again, "the Edit taught S1 nothing of S2's line").toMatchObject({ isError: true });
    expect(await stored(files, "rules.md")).toContain("TWO");
  });

  it("TOOL-09: what two sessions create at once is created once", async () => {
    const files = createMemory();
    const s1 = openSession(mountOf(files));
    const s2 = openSession(mountOf(files));
    const file_path = "/memory/new.md";
    const plans = [
      await s1.plan("Write", { file_path, content: "mine" }),
      await s2.plan("Write", { file_path, content: "yours" }),
    ] as const;
    const results = await Promise.all([
      s1.commit("Write", plans[0], false),
      s2.commit("Write", plans[1], false),
    ]);
    expect(results.map((result) => result.isError).sort()).toEqual([false, true]);
  });

  it("TOOL-10: one limit with one message for Write and Edit, in UTF-8 bytes", async () => {
    const files = createMemory();
    const session = openSession(mountOf(files));
    const file_path = "/memory/a";
    const exact = `${"記".repeat(83_333)}x`;
    expect((await session.call("Write", { file_path, content: exact })).isError).toBe(false);
    const write = await session.call("Write", { file_path, content: `${exact}y` });
    const edit = await session.call("Edit", { file_path, old_string: "x", new_string: "xy" });
    expect(edit.isError && write.isError).toBe(true);
    expect(edit.content).toBe(write.content);
    expect(write.content).toMatch(/250001.*250000/);
    expect(await stored(files, "a")).toBe(exact);
  });

  it("TOOL-11: what is checked is what is used, noted and planned", async () => {
    const files = createMemory();
    const session = openSession(mountOf(files));
    for (const raw of ["/memory/a.md ", "/memory/a.md\u0000.png", "file:///memory/a.md"]) {
      expect((await session.call("Write", { file_path: raw, content: "x" })).isError).toBe(true);
    }
    const nfd = "/memory/notes/./cafe\u0301.md";
    const result = await session.call("Write", { file_path: nfd, content: "x" });
    const path = "/memory/notes/caf\u00e9.md";
    expect(await pathsOf(files)).toEqual(["notes/caf\u00e9.md"]);
    expect(result.notes.map((note) => note.path)).toEqual([path, path]);
    expect([...session.seen.keys()]).toEqual([path]);
    await session.call("Write", { file_path: "/memory/Notes/A.md", content: "x" });
    expect(await pathsOf(files)).toContain("Notes/A.md");
  });

  it("TOOL-12: an Edit on CRLF matches and keeps the other line ends", async () => {
    const files = createMemory();
    await store(files, "a", "line one\r\nline two\r\nline three\r\n");
    const session = openSession(mountOf(files));
    const edit = { file_path: "/memory/a", old_string: "line one\nline two", new_string: "1\n2" };
    expect((await session.call("Edit", edit)).isError).toBe(false);
    expect(await stored(files, "a")).toBe("1\r\n2\r\nline three\r\n");
  });

  it("TOOL-13: search tools stay inside, and none of them changes anything", async () => {
    const mine = createMemory();
    await store(mine, "a.md", "secret of mine");
    const session = openSession(mountOf(mine, { at: "/memory/p1", rights: "read" }));
    expect((await session.call("Grep", { pattern: "secret", path: "/" })).content).toBe(
      "/memory/p1/a.md:1: secret of mine",
    );
    expect((await session.call("Glob", { pattern: "../**" })).isError).toBe(true);
    for (const path of ["/memory/p2/a.md", "C:\\Windows\\x", "/memory/p1/../p2/a.md"]) {
      expect((await session.call("Read", { file_path: path })).isError).toBe(true);
    }
    for (const [name, input] of [
      ["Write", { file_path: "/memory/p1/b", content: "x" }],
      ["Edit", { file_path: "/memory/p1/a.md", old_string: "secret" }],
      ["Delete", { file_path: "/memory/p1/a.md" }],
    ] as const) {
      expect((await session.call(name, input)).content).toContain("read-only");
    }
    expect(await stored(mine, "a.md")).toBe("secret of mine");
  });

  describe("TOOL-14: the old content survives", () => {
    // The hit is in the first part: a short read would find it, and write the rest away.
    const old = `x${"- line\n".repeat(225)}`;
    const edit = { file_path: "/memory/MEMORY.md", old_string: "x", new_string: "x\n1\n2\n3" };
    const faults: [string, (files: FileStore) => Partial<FileStore>][] = [
      ["a read that gives nothing", (files) => ({ get: async (path) => spoil(files, path, 0) })],
      ["a read that comes short", (files) => ({ get: async (path) => spoil(files, path, 1000) })],
      ["a read that finds no file", () => ({ get: async () => undefined })],
      ["a put that fails", () => ({ put: () => Promise.reject(new Error("stream error")) })],
      ["a put that meets a conflict", () => ({ put: async () => ({ status: "conflict" }) })],
    ];

    it.each(faults)("%s", async (_, fault) => {
      const files = createMemory();
      await store(files, "MEMORY.md", old);
      expect(old.length).toBe(1576);
      const session = openSession(mountOf({ ...files, ...fault(files) }));
      const result = await session.call("Edit", edit);
      expect(result).toMatchObject({ isError: true, notes: [] });
      expect(await stored(files, "MEMORY.md")).toBe(old);
    });

    it.each(faults.slice(0, 3))("%s between plan and commit", async (_, fault) => {
      const files = createMemory();
      await store(files, "MEMORY.md", old);
      const plan = await openSession(mountOf(files)).plan("Edit", edit);
      for (const resumed of [false, true]) {
        const session = openSession(mountOf({ ...files, ...fault(files) }));
        expect((await session.commit("Edit", plan, resumed)).isError).toBe(true);
        expect(await stored(files, "MEMORY.md")).toBe(old);
      }
    });
  });
});

async function spoil(files: FileStore, path: string, length: number) {
  const file = await files.get(path);
  return file && { ...file, bytes: file.bytes.slice(0, length) };
}
