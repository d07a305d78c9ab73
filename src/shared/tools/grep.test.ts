import { beforeEach, describe, expect, it } from "vitest";
import type { FileStore } from "../files/store.ts";
import {
  GREP_FILE_BYTES,
  GREP_FILES,
  GREP_RESULTS,
  GREP_TOTAL_BYTES,
  READ_BYTES,
  STORAGE_CONCURRENCY,
  TOOL_LINE_CHARACTERS,
  WALK_ENTRIES,
} from "../limits.ts";
import { createGrepTool, type GrepLimits } from "./grep.ts";
import { createMemory, mountOf, openSession, type Session, store } from "./tool-fixture.ts";

const LIMITS: GrepLimits = {
  results: GREP_RESULTS,
  resultBytes: READ_BYTES,
  lineCharacters: TOOL_LINE_CHARACTERS,
  files: GREP_FILES,
  fileBytes: GREP_FILE_BYTES,
  totalBytes: GREP_TOTAL_BYTES,
  entries: WALK_ENTRIES,
  concurrency: STORAGE_CONCURRENCY,
};

describe("Grep", () => {
  let files: FileStore;
  let session: Session;
  beforeEach(async () => {
    files = createMemory();
    session = openSession(mountOf(files));
    await store(files, "a.md", "one\nTwo\r\nthree\n");
    await store(files, "d/b.txt", "two 会议");
  });
  const grep = async (
    input: object,
    limits: Partial<GrepLimits> = {},
    signal = new AbortController().signal,
  ) => createGrepTool(session.env, { ...LIMITS, ...limits }).run(input, signal);

  it("gives path, line and text", async () => {
    expect((await grep({ pattern: "t.o$", ignore_case: true })).content).toBe(
      "/memory/a.md:2: Two",
    );
    expect((await grep({ pattern: "two" })).content).toBe("/memory/d/b.txt:1: two 会议");
    expect((await grep({ pattern: "会." })).content).toBe("/memory/d/b.txt:1: two 会议");
    expect((await grep({ pattern: "^(one|three)$" })).content.split("\n")).toHaveLength(2);
  });

  it("searches a file, a directory, or what a glob chooses", async () => {
    const all = { pattern: "two", ignore_case: true };
    expect((await grep({ ...all, path: "/memory/a.md" })).content).toBe("/memory/a.md:2: Two");
    expect((await grep({ ...all, path: "/memory/d" })).content).toContain("b.txt");
    expect((await grep({ ...all, path: "/" })).content.split("\n")).toHaveLength(2);
    expect((await grep({ ...all, glob: "*.md" })).content).toBe("/memory/a.md:2: Two");
    expect((await grep({ ...all, glob: "d/*" })).content).toContain("b.txt");
    expect((await grep({ ...all, glob: "/memory/d/*" })).content).toContain("b.txt");
    expect((await grep({ pattern: "nowhere" })).content).toBe('No line below / matches "nowhere"');
  });

  it.each([
    [{ pattern: "a(b" }, /missing closing \)/],
    [{ pattern: "(?=a)" }, /RE2/],
    [{ pattern: "(a)\\1" }, /RE2/],
    [{ pattern: "" }, /pattern/],
    [{ pattern: "a".repeat(1001) }, /1000/],
    [{ pattern: "a", glob: "../*" }, /"\.\."/],
    [{ pattern: "a", path: "/etc" }, /outside/],
    [{ pattern: "a", path: "/memory/none" }, /no such/],
    [{ pattern: "a", context: 3 }, /context/],
  ])("answers %j with the reason", async (input, expected) => {
    const result = await session.call("Grep", input);
    expect(result.isError).toBe(true);
    expect(result.content).toMatch(expected);
  });

  it("stops at its limits and says what was not searched", async () => {
    for (let i = 0; i < 20; i += 1) await store(files, `n/${10 + i}`, "x\nx\n");
    await files.put("n/bin", Uint8Array.of(0x78, 0));
    await store(files, "n/big", "x".repeat(200));
    const path = "/memory/n";
    const few = await grep({ pattern: "x", path }, { results: 5 });
    expect(few.content.split("\n")).toHaveLength(6);
    expect(few.content).toContain("There are more matches");
    const all = await grep({ pattern: "x", path }, { fileBytes: 100, results: 40 });
    expect(all.content).toContain("[Not searched: 1 files over 100 bytes, 1 binary files]");
    expect(all.content).not.toContain("more matches");
    expect((await grep({ pattern: "x", path }, { files: 20 })).content).toContain(
      "2 files beyond 20",
    );
    expect((await grep({ pattern: "x", path }, { totalBytes: 40 })).content).toContain("beyond");
    expect((await grep({ pattern: "x", path }, { entries: 4 })).content).toContain("first 4 files");
    expect((await grep({ pattern: "x", path }, { resultBytes: 60 })).content).toContain(
      "more matches",
    );
  });

  it("cuts long lines between characters", async () => {
    await store(files, "long", `match ${"🙂".repeat(50)}`);
    const { content } = await grep({ pattern: "match" }, { lineCharacters: 10 });
    expect(content).toContain(`match ${"🙂".repeat(4)} [cut`);
    expect(content.isWellFormed()).toBe(true);
  });

  it("keeps few reads in flight, and one that fails is counted", async () => {
    for (let i = 0; i < 30; i += 1) await store(files, `n/${i}`, "x");
    let open = 0;
    let most = 0;
    const slow: FileStore = {
      ...files,
      async get(path) {
        open += 1;
        most = Math.max(most, open);
        await new Promise((resolve) => setTimeout(resolve, 1));
        open -= 1;
        if (path === "n/7") throw new Error("t/acme/secret");
        return files.get(path);
      },
    };
    session = openSession(mountOf(slow));
    const { content } = await grep({ pattern: "x", path: "/memory/n" });
    expect(most).toBe(STORAGE_CONCURRENCY);
    expect(content).toContain("[Not searched: 1 files that could not be read]");
    expect(content).not.toContain("acme");
  });

  it("ends when it is stopped", async () => {
    const result = await grep({ pattern: "x" }, {}, AbortSignal.abort());
    expect(result.isError).toBe(true);
  });
});
