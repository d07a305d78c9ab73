import { beforeEach, describe, expect, it } from "vitest";
import type { FileStore } from "../files/store.ts";
import { createMemory, mountOf, openSession, type Session, store, stored } from "./tool-fixture.ts";

const FILE = "/memory/a.md";

describe("Write", () => {
  let files: FileStore;
  let session: Session;
  beforeEach(() => {
    files = createMemory();
    session = openSession(mountOf(files));
  });
  const write = (content: string, file_path = FILE) =>
    session.call("Write", { file_path, content });

  it("creates a file, then knows it and may replace it", async () => {
    const created = await write("会议\n", "/memory//d/./a.md");
    const etag = (await files.head("d/a.md"))?.etag;
    expect(created).toMatchObject({ isError: false, content: "Created /memory/d/a.md: 7 bytes" });
    expect(created.notes).toEqual([
      { type: "changed", path: "/memory/d/a.md", operation: "created", etag },
      { type: "seen", path: "/memory/d/a.md", etag },
    ]);
    const replaced = await write("2", "/memory/d/a.md");
    expect(replaced.notes[0]).toMatchObject({ type: "changed", operation: "modified" });
    expect(await stored(files, "d/a.md")).toBe("2");
  });

  it("tells that the model knows what it wrote", async () => {
    const plan = await session.plan("Write", { file_path: FILE, content: "1" });
    const { notes } = await session.commit("Write", plan, false);
    const etag = (await files.head("a.md"))?.etag;
    expect(notes).toContainEqual({ type: "seen", path: FILE, etag });
  });

  it("over a file that was never read asks for a Read", async () => {
    await store(files, "a.md", "theirs");
    const result = await write("mine");
    expect(result).toMatchObject({ isError: true, notes: [] });
    expect(result.content).toContain("Read it first");
    expect(await stored(files, "a.md")).toBe("theirs");
    await session.call("Read", { file_path: FILE });
    expect((await write("mine")).isError).toBe(false);
  });

  it("of what is there already does nothing and succeeds", async () => {
    const etag = await store(files, "a.md", "same");
    const result = await write("same");
    expect(result).toMatchObject({
      isError: false,
      content: expect.stringContaining("nothing to do"),
    });
    expect(result.notes).toEqual([{ type: "seen", path: FILE, etag }]);
  });

  it("writes an empty file where it is asked to", async () => {
    expect((await write("")).isError).toBe(false);
    expect(await stored(files, "a.md")).toBe("");
  });

  it("creates anew what others deleted, and says so", async () => {
    await write("1");
    await files.delete("a.md");
    expect((await write("2")).content).toContain("had been deleted");
  });

  it("refuses half a character and changes nothing", async () => {
    expect((await write("a\ud800")).content).toContain("content");
    expect(await files.head("a.md")).toBeUndefined();
  });

  it("keeps files and directories apart", async () => {
    await store(files, "d/a.md", "x");
    expect((await write("x", "/memory/d")).content).toContain("directory");
    expect((await write("x", "/memory/d/a.md/b.md")).content).toContain("/memory/d/a.md is a file");
  });

  it("changes nothing while it plans", async () => {
    await session.plan("Write", { file_path: FILE, content: "1" });
    expect(await files.head("a.md")).toBeUndefined();
  });

  describe("committed", () => {
    const planNew = () => session.plan("Write", { file_path: FILE, content: "mine" });

    async function planOver(): Promise<string> {
      await store(files, "a.md", "before");
      await session.call("Read", { file_path: FILE });
      return planNew();
    }

    it.each([
      ["of a new file", () => planNew(), "created"],
      ["over a file", () => planOver(), "modified"],
    ] as const)("after a crash before the put %s writes", async (_, makePlan, operation) => {
      const result = await session.commit("Write", await makePlan(), true);
      expect(result.notes[0]).toMatchObject({ type: "changed", operation });
      expect(await stored(files, "a.md")).toBe("mine");
    });

    it.each([
      ["of a new file", () => planNew()],
      ["over a file", () => planOver()],
    ])("after a crash behind the put %s knows its own work", async (_, makePlan) => {
      const plan = await makePlan();
      const first = await session.commit("Write", plan, false);
      const modified = (await files.head("a.md"))?.modified;
      expect(await session.commit("Write", plan, true)).toEqual(first);
      expect((await files.head("a.md"))?.modified).toBe(modified);
    });

    it.each([
      ["of a new file", () => planNew()],
      ["over a file", () => planOver()],
    ])("after a crash and a change by others %s keeps theirs", async (_, makePlan) => {
      const plan = await makePlan();
      await session.commit("Write", plan, false);
      await store(files, "a.md", "theirs");
      const result = await session.commit("Write", plan, true);
      expect(result).toMatchObject({ isError: true, content: expect.stringContaining("changed") });
      expect(await stored(files, "a.md")).toBe("theirs");
    });

    it("without a crash a conflict is an error, even with equal content", async () => {
      const plan = await planNew();
      await store(files, "a.md", "mine");
      expect((await session.commit("Write", plan, false)).isError).toBe(true);
    });

    it("with a plan that is none changes nothing", async () => {
      for (const plan of ["", "{}", '{"op":"edit","path":"/memory/a.md"}', "null"]) {
        expect((await session.commit("Write", plan, true)).isError).toBe(true);
      }
    });

    it("asks the sandbox again: rights may be gone by then", async () => {
      const plan = await planNew();
      const readOnly = openSession(mountOf(files, { rights: "read" }));
      expect((await readOnly.commit("Write", plan, true)).content).toContain("read-only");
      expect(await files.head("a.md")).toBeUndefined();
    });
  });
});
