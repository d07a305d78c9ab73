import { beforeEach, describe, expect, it } from "vitest";
import type { FileStore } from "../files/store.ts";
import { createReadTool } from "./read.ts";
import { createMemory, mountOf, openSession, type Session, store } from "./tool-fixture.ts";

describe("Read", () => {
  let files: FileStore;
  let session: Session;
  beforeEach(() => {
    files = createMemory();
    session = openSession(mountOf(files));
  });
  const read = (input: object) => session.call("Read", input);

  it("numbers lines and notes what the model now knows", async () => {
    const etag = await store(files, "d/a.md", "one\ntwo\n");
    expect(await read({ file_path: "/memory//d/./a.md" })).toEqual({
      content: "     1\tone\n     2\ttwo",
      isError: false,
      notes: [{ type: "seen", path: "/memory/d/a.md", etag }],
    });
  });

  it("itself remembers nothing: a read may be thrown away", async () => {
    await store(files, "a", "one");
    await createReadTool(session.env).run({ file_path: "/memory/a" }, new AbortController().signal);
    expect(session.seen.size).toBe(0);
  });

  it("shows an empty file as such, with a text that is not empty", async () => {
    await store(files, "a", "");
    expect(await read({ file_path: "/memory/a" })).toMatchObject({
      content: "(empty file)",
      isError: false,
      notes: [{ type: "seen" }],
    });
  });

  it("shows CRLF lines without the CR and keeps a byte order mark", async () => {
    await store(files, "a", "\ufeffone\r\ntwo\r\n");
    expect((await read({ file_path: "/memory/a" })).content).toBe("     1\t\ufeffone\n     2\ttwo");
  });

  it("starts at offset, stops at limit, and says how to go on", async () => {
    await store(files, "a", "1\n2\n3\n4\n5\n");
    expect((await read({ file_path: "/memory/a", offset: 2, limit: 2 })).content).toBe(
      "     2\t2\n     3\t3\n[Lines 2 to 3 of 5 are shown. Go on with offset 4]",
    );
    expect((await read({ file_path: "/memory/a", offset: 5 })).content).toBe("     5\t5");
    const beyond = await read({ file_path: "/memory/a", offset: 6 });
    expect(beyond).toMatchObject({ isError: true, notes: [] });
    expect(beyond.content).toContain("5 lines");
  });

  it("cuts at lines, bytes and characters, always gets on, never splits a character", async () => {
    await store(files, "a", `${"🙂".repeat(10)}\n`.repeat(6));
    const tool = createReadTool(session.env, { lines: 4, bytes: 1, lineCharacters: 3 });
    const signal = new AbortController().signal;
    const rows: string[] = [];
    for (let offset = 1; offset <= 6; offset += 1) {
      const { content } = await tool.run({ file_path: "/memory/a", offset }, signal);
      expect(content.isWellFormed()).toBe(true);
      rows.push(content.split("\n")[0] ?? "");
    }
    expect(rows.at(-1)).toMatch(/^ {5}6\t🙂🙂🙂 \[cut/);
    const many = createReadTool(session.env, { lines: 4, bytes: 10_000, lineCharacters: 3 });
    const result = await many.run({ file_path: "/memory/a", limit: 100 }, signal);
    expect(result.content).toContain("[Lines 1 to 4 of 6 are shown. Go on with offset 5]");
  });

  it("keeps to its limits by default", async () => {
    await store(files, "lines", "x\n".repeat(3000));
    const lines = await read({ file_path: "/memory/lines" });
    expect(lines.content.split("\n")).toHaveLength(2001);
    await store(files, "bytes", `${"x".repeat(1000)}\n`.repeat(240));
    const bytes = await read({ file_path: "/memory/bytes" });
    expect(bytes.content.length).toBeLessThan(100_100);
    expect(bytes.content).toMatch(/Go on with offset \d+\]$/);
  });

  it.each([
    ["/memory/none.md", /no such file/],
    ["/memory/d", /directory.*Glob/s],
    ["/memory", /directory/],
    ["/memory/d/a.md/child", /no such file/],
    ["/memory/bin", /binary/],
    ["/memory/latin1", /binary/],
    ["/etc/passwd", /outside/],
  ])("answers %j with an error that says what to do", async (file_path, expected) => {
    await store(files, "d/a.md", "x");
    await files.put("bin", Uint8Array.of(0x61, 0, 0x62));
    await files.put("latin1", Uint8Array.of(0xe9, 0x74, 0xe9));
    const result = await read({ file_path });
    expect(result).toMatchObject({ isError: true, notes: [] });
    expect(result.content).toMatch(expected);
    expect(result.content).toContain(file_path);
  });

  it.each([
    [{}, "file_path"],
    [{ file_path: 7 }, "file_path"],
    [{ file_path: "/memory/a", offset: 0 }, "offset"],
    [{ file_path: "/memory/a", limit: 1.5 }, "limit"],
    [{ file_path: "/memory/a", lines: 3 }, "lines"],
    [null, "input"],
    ["/memory/a", "input"],
    [{ file_path: { toString: () => "/memory/a" } }, "file_path"],
  ])("names the field that is wrong in %j", async (input, field) => {
    const result = await session.call("Read", input);
    expect(result.isError).toBe(true);
    expect(result.content).toContain(field);
  });
});
