import { beforeEach, describe, expect, it } from "vitest";
import { MEMORY_FILE_BYTES } from "../limits/files.ts";
import { createMapStore } from "./map-store.ts";
import type { Mount } from "./mounts.ts";
import { deleteFile, writeFile } from "./write-file.ts";

const encoder = new TextEncoder();
const BYTES = encoder.encode("x");

describe("writeFile", () => {
  let mount: Mount;
  beforeEach(() => {
    const store = createMapStore(() => 0);
    mount = {
      at: "/memory",
      store,
      rights: "write",
      maxFileBytes: MEMORY_FILE_BYTES,
      label: "memory",
    };
  });

  it("TOOL-10: takes exactly the limit in UTF-8 bytes, and not one byte more", async () => {
    const exact = encoder.encode(`${"記".repeat(83_333)}x`);
    expect(exact.length).toBe(250_000);
    expect(await writeFile(mount, "a.md", exact)).toMatchObject({ status: "written" });
    const over = await writeFile(mount, "b.md", encoder.encode("x".repeat(250_001)));
    expect(over).toMatchObject({ status: "refused", reason: "too_large" });
    expect(over).toMatchObject({
      message: expect.stringMatching(/\/memory\/b\.md.*250001.*250000/),
    });
    expect(await mount.store.head("b.md")).toBeUndefined();
  });

  it("stores nothing where only reading is allowed", async () => {
    const readOnly: Mount = { ...mount, rights: "read" };
    await mount.store.put("a", BYTES);
    expect(await writeFile(readOnly, "b", BYTES)).toMatchObject({ reason: "read_only" });
    expect(await deleteFile(readOnly, "a")).toMatchObject({ reason: "read_only" });
    expect((await mount.store.list({ prefix: "" })).entries).toHaveLength(1);
  });

  it("never writes or deletes the root", async () => {
    await mount.store.put("a", BYTES);
    expect(await writeFile(mount, "", BYTES)).toMatchObject({ reason: "root" });
    expect(await deleteFile(mount, "")).toMatchObject({ reason: "root" });
    expect(await mount.store.head("a")).toBeDefined();
  });

  it("keeps files and directories apart", async () => {
    await writeFile(mount, "d/e/a.md", BYTES);
    for (const precondition of [undefined, { ifAbsent: true } as const]) {
      expect(await writeFile(mount, "d", BYTES, precondition)).toMatchObject({
        reason: "files_below",
      });
      expect(await writeFile(mount, "d/e", BYTES, precondition)).toMatchObject({
        reason: "files_below",
      });
      expect(await writeFile(mount, "d/e/a.md/b/c", BYTES, precondition)).toMatchObject({
        reason: "file_above",
        message: expect.stringContaining("/memory/d/e/a.md is a file"),
      });
    }
    expect(await writeFile(mount, "d/e/a.md", BYTES)).toMatchObject({ status: "written" });
    expect(await writeFile(mount, "d/e/b.md", BYTES)).toMatchObject({ status: "written" });
  });

  it("passes the precondition on", async () => {
    const first = await writeFile(mount, "a", BYTES, { ifAbsent: true });
    expect(first.status).toBe("written");
    expect(await writeFile(mount, "a", BYTES, { ifAbsent: true })).toEqual({ status: "conflict" });
    expect(await writeFile(mount, "a", BYTES, { ifMatch: "0" })).toEqual({ status: "conflict" });
    expect(await writeFile(mount, "b", BYTES, { ifMatch: "0" })).toEqual({ status: "conflict" });
    expect(await deleteFile(mount, "a", { ifMatch: "0" })).toEqual({ status: "conflict" });
  });

  it("deletes one file, never a directory", async () => {
    await writeFile(mount, "d/a", BYTES);
    expect(await deleteFile(mount, "d")).toMatchObject({ reason: "files_below" });
    expect(await deleteFile(mount, "missing")).toEqual({ status: "missing" });
    expect(await deleteFile(mount, "d/a")).toEqual({ status: "deleted" });
  });
});
