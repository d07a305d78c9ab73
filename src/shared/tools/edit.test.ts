import { beforeEach, describe, expect, it } from "vitest";
import type { FileStore } from "../files/store.ts";
import { EDIT_ATTEMPTS } from "../limits/tools.ts";
import { createMemory, mountOf, openSession, type Session, store, stored } from "./tool-fixture.ts";

const FILE = "/memory/a.md";
const EDIT = { file_path: FILE, old_string: "old", new_string: "new" };

describe("Edit", () => {
  let files: FileStore;
  let session: Session;
  beforeEach(() => {
    files = createMemory();
    session = openSession(mountOf(files));
  });
  const edit = (old_string: string, rest: object = {}) =>
    session.call("Edit", { file_path: FILE, old_string, ...rest });

  it("needs no Read, and does not make the file known", async () => {
    await store(files, "a.md", "an old one");
    const result = await edit("old", { new_string: "new" });
    const etag = (await files.head("a.md"))?.etag;
    expect(result).toEqual({
      content: `Edited ${FILE}: 1 replacement, now 10 bytes`,
      isError: false,
      notes: [{ type: "changed", path: FILE, operation: "modified", etag }],
    });
    const write = await session.call("Write", { file_path: FILE, content: "all mine" });
    expect(write.content).toContain("Read it");
  });

  it("of a file that is known keeps it known", async () => {
    await store(files, "a.md", "old");
    await session.call("Read", { file_path: FILE });
    expect((await edit("old", { new_string: "new" })).notes.map((note) => note.type)).toEqual([
      "changed",
      "seen",
    ]);
    expect((await session.call("Write", { file_path: FILE, content: "x" })).isError).toBe(false);
  });

  it("deletes text, also the last of it, where it is asked to", async () => {
    await store(files, "a.md", "all");
    expect((await edit("all", { new_string: "" })).isError).toBe(false);
    expect(await stored(files, "a.md")).toBe("");
  });

  it("replaces all where it is told to", async () => {
    await store(files, "a.md", "foo foo\n");
    expect((await edit("foo", { new_string: "bar", replace_all: true })).content).toContain(
      "2 repl",
    );
    expect(await stored(files, "a.md")).toBe("bar bar\n");
  });

  it.each([
    [{ old_string: "none", new_string: "x" }, /not in it/],
    [{ old_string: "", new_string: "x" }, /empty/],
    [{ old_string: "old", new_string: "old" }, /same/],
    [{ file_path: "/memory/none", old_string: "a", new_string: "b" }, /no such file/],
    [{ file_path: "/memory/d", old_string: "a", new_string: "b" }, /directory/],
    [{ file_path: "/memory/bin", old_string: "a", new_string: "b" }, /binary/],
    [{ file_path: "/memory", old_string: "a", new_string: "b" }, /directory/],
    [{ old_string: "old", new_string: "\udc00" }, /new_string/],
    [{ old_string: "old", new_string: null }, /new_string/],
    [{ new_string: "x" }, /old_string/],
  ])("%j is an error and changes nothing", async (input, expected) => {
    await store(files, "a.md", "old");
    await store(files, "d/x", "a");
    await files.put("bin", Uint8Array.of(0x61, 0));
    const result = await session.call("Edit", { file_path: FILE, ...input });
    expect(result).toMatchObject({ isError: true, notes: [] });
    expect(result.content).toMatch(expected);
    expect(await stored(files, "a.md")).toBe("old");
  });

  it("keeps the byte order mark", async () => {
    await store(files, "a.md", "\ufeffold");
    await edit("old", { new_string: "new" });
    expect(await stored(files, "a.md")).toBe("\ufeffnew");
  });

  it("is made again on what others wrote between plan and put", async () => {
    await store(files, "a.md", "old\nline");
    const plan = await session.plan("Edit", EDIT);
    await store(files, "a.md", "old\nline of others");
    expect((await session.commit("Edit", plan, false)).isError).toBe(false);
    expect(await stored(files, "a.md")).toBe("new\nline of others");
  });

  it("gives up when others took the text away or doubled it", async () => {
    for (const theirs of ["gone", "old old"]) {
      await store(files, "a.md", "old");
      const plan = await session.plan("Edit", EDIT);
      await store(files, "a.md", theirs);
      expect((await session.commit("Edit", plan, false)).isError).toBe(true);
      expect(await stored(files, "a.md")).toBe(theirs);
    }
  });

  it("tries a bounded number of times against a file that never rests", async () => {
    await store(files, "a.md", "old");
    let puts = 0;
    const restless: FileStore = {
      ...files,
      async put(path, bytes, precondition) {
        puts += 1;
        if (puts > 1 && puts < 3) return files.put(path, bytes, precondition);
        await store(files, path, `old ${puts}`);
        return files.put(path, bytes, precondition);
      },
    };
    const busy = openSession(mountOf(restless));
    expect((await busy.call("Edit", EDIT)).isError).toBe(false);
    expect(await stored(files, "a.md")).toBe("new 1");
    puts = 10;
    await store(files, "a.md", "old");
    const result = await busy.call("Edit", EDIT);
    expect(result).toMatchObject({
      isError: true,
      content: expect.stringContaining("keep changing"),
    });
    expect(puts).toBe(10 + EDIT_ATTEMPTS);
  });

  describe("resumed after a crash", () => {
    it("before the put makes the edit", async () => {
      await store(files, "a.md", "old");
      const plan = await session.plan("Edit", EDIT);
      expect((await session.commit("Edit", plan, true)).isError).toBe(false);
      expect(await stored(files, "a.md")).toBe("new");
    });

    it("behind the put does not make it twice", async () => {
      await store(files, "a.md", "old");
      const once = await session.plan("Edit", { ...EDIT, new_string: "older" });
      await session.commit("Edit", once, false);
      const result = await session.commit("Edit", once, true);
      expect(result).toMatchObject({ isError: false });
      expect(result.notes[0]).toMatchObject({ type: "changed", operation: "modified" });
      expect(await stored(files, "a.md")).toBe("older");
    });

    it("and a change by others leaves theirs and says that it does not know", async () => {
      await store(files, "a.md", "old");
      const plan = await session.plan("Edit", { ...EDIT, new_string: "older" });
      await session.commit("Edit", plan, false);
      await store(files, "a.md", "older and theirs");
      const result = await session.commit("Edit", plan, true);
      expect(result).toMatchObject({
        isError: true,
        content: expect.stringContaining("may or may not"),
      });
      expect(await stored(files, "a.md")).toBe("older and theirs");
    });

    it("and a deletion does not bring the file back", async () => {
      await store(files, "a.md", "old");
      const plan = await session.plan("Edit", EDIT);
      await files.delete("a.md");
      expect((await session.commit("Edit", plan, true)).isError).toBe(true);
      expect(await files.head("a.md")).toBeUndefined();
    });
  });
});
