import { beforeEach, describe, expect, it } from "vitest";
import type { FileStore } from "../files/store.ts";
import { createMemory, mountOf, openSession, type Session, store, stored } from "./tool-fixture.ts";

const FILE = "/memory/a.md";

describe("Delete", () => {
  let files: FileStore;
  let session: Session;
  beforeEach(() => {
    files = createMemory();
    session = openSession(mountOf(files));
  });

  it("deletes one file and forgets it", async () => {
    const etag = await store(files, "a.md", "x");
    await session.call("Read", { file_path: FILE });
    expect(await session.call("Delete", { file_path: FILE })).toEqual({
      content: `Deleted ${FILE}`,
      isError: false,
      notes: [{ type: "changed", path: FILE, operation: "deleted", etag }],
    });
    expect(session.seen.has(FILE)).toBe(false);
    expect(await files.head("a.md")).toBeUndefined();
  });

  it("of what is missing or a directory is an error", async () => {
    await store(files, "d/a.md", "x");
    expect((await session.call("Delete", { file_path: "/memory/d" })).content).toContain(
      "directory",
    );
    expect((await session.call("Delete", { file_path: FILE })).content).toContain("no such file");
    expect(await stored(files, "d/a.md")).toBe("x");
  });

  it("spares what changed between plan and commit", async () => {
    await store(files, "a.md", "x");
    const plan = await session.plan("Delete", { file_path: FILE });
    await store(files, "a.md", "theirs");
    expect((await session.commit("Delete", plan, false)).isError).toBe(true);
    expect(await stored(files, "a.md")).toBe("theirs");
  });

  it("of what somebody else just deleted succeeds and claims no change", async () => {
    await store(files, "a.md", "x");
    const plan = await session.plan("Delete", { file_path: FILE });
    await files.delete("a.md");
    expect(await session.commit("Delete", plan, false)).toMatchObject({
      isError: false,
      notes: [],
    });
  });

  describe("resumed after a crash", () => {
    it("before the delete deletes", async () => {
      await store(files, "a.md", "x");
      const plan = await session.plan("Delete", { file_path: FILE });
      expect((await session.commit("Delete", plan, true)).isError).toBe(false);
      expect(await files.head("a.md")).toBeUndefined();
    });

    it("behind the delete succeeds", async () => {
      await store(files, "a.md", "x");
      const plan = await session.plan("Delete", { file_path: FILE });
      await session.commit("Delete", plan, false);
      const result = await session.commit("Delete", plan, true);
      expect(result.isError).toBe(false);
      expect(result.notes[0]).toMatchObject({ type: "changed", operation: "deleted" });
    });

    it("spares a file that others made in its place", async () => {
      await store(files, "a.md", "x");
      const plan = await session.plan("Delete", { file_path: FILE });
      await session.commit("Delete", plan, false);
      await store(files, "a.md", "theirs");
      expect((await session.commit("Delete", plan, true)).isError).toBe(true);
      expect(await stored(files, "a.md")).toBe("theirs");
    });
  });
});
