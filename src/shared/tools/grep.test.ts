import { beforeEach, describe, expect, it } from "vitest";
import type { FileStore } from "../files/store.ts";
import { STORAGE_CONCURRENCY } from "../limits/files.ts";
import { createGrepTool, GREP_LIMITS, type GrepLimits } from "./grep.ts";
import { nextTask, PACE_LIMITS } from "./pace.ts";
import { createMemory, mountOf, openSession, type Session, store } from "./tool-fixture.ts";

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
  ) => createGrepTool(session.env, { ...GREP_LIMITS, ...limits }).run(input, signal);

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

  describe("with a hostile pattern", () => {
    /** Not too large to compile, and never cheap: each character leads to a new state. */
    const SLOW = "(?:a[ab]{0,9}){9}[^ab]";
    const SLOW_SIZE = 174;
    const random = (count: number) => {
      let seed = 1;
      return Array.from({ length: count }, () => {
        seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
        return seed > 1_073_741_824 ? "a" : "b";
      }).join("");
    };

    it.each([
      "(?:(?:a[ab]{0,100}){9})[^ab]",
      `(?:${"a".repeat(300)}){1000}`,
      "((a{30}){30}){30}",
      "a{1000}".repeat(9),
      "\\pL".repeat(300),
      "\\pL{900}",
      "(?:a|b{0,600})",
    ])("%s is refused before it costs anything", async (pattern) => {
      const { isError, content } = await grep({ pattern });
      expect([isError, content]).toEqual([true, expect.stringContaining("too large")]);
    });

    it.each([
      "(\\d{1,3}\\.){3}\\d{1,3}",
      "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
      "^.{0,400}x$",
    ])("%s, as people write it, is not", async (pattern) => {
      expect((await grep({ pattern })).isError).toBe(false);
    });

    it("searches the beginning of a long line, and says so; a plain text is found anywhere", async () => {
      await store(files, "long", `${"ab".repeat(400_000)}!end`);
      const path = "/memory/long";
      const { content } = await grep({ pattern: SLOW, path });
      expect(content).toMatch(/Not searched: what is behind the first \d+ characters of 1 lines/);
      expect((await grep({ pattern: "b!end", path })).content).toContain("/memory/long:1: abab");
      expect((await grep({ pattern: "b\\!e", path })).content).not.toContain("Not searched");
    });

    it("pauses between slices that are small enough, others get in meanwhile", async () => {
      const line = `${random(250)}\n`;
      await store(files, "many", line.repeat(100));
      let others = 0;
      const tick = setInterval(() => {
        others += 1;
      }, 0);
      let pauses = 0;
      const tool = createGrepTool(session.env, GREP_LIMITS, () => {
        pauses += 1;
        return nextTask();
      });
      const input = { pattern: SLOW, path: "/memory/many" };
      const { content } = await tool.run(input, new AbortController().signal);
      clearInterval(tick);
      expect(content).toContain("No line");
      const steps = 100 * 250 * SLOW_SIZE;
      expect(pauses).toBeGreaterThanOrEqual(Math.floor(steps / PACE_LIMITS.slice));
      expect(others).toBeGreaterThan(5);
    });

    it("is stopped between two slices", async () => {
      await store(files, "many", `${random(250)}\n`.repeat(100));
      const stop = new AbortController();
      let pauses = 0;
      const tool = createGrepTool(session.env, GREP_LIMITS, async () => {
        pauses += 1;
        if (pauses === 3) stop.abort();
      });
      const result = await tool.run({ pattern: SLOW, path: "/memory/many" }, stop.signal);
      expect(result).toMatchObject({ isError: true, content: expect.stringContaining("stopped") });
      expect(pauses).toBe(3);
    });

    it("ends where the budget ends, with what was found until then", async () => {
      await store(files, "many", `a!\n${`${random(100)}\n`.repeat(100)}a!\n`);
      const pace = { slice: PACE_LIMITS.slice, all: 200_000 };
      const { content } = await grep({ pattern: `a!|${SLOW}x`, path: "/memory/many" }, { pace });
      expect(content).toContain("/memory/many:1: a!");
      expect(content).not.toContain("/memory/many:102");
      expect(content).toContain("the pattern is too slow");
    });

    it("a million empty lines are searched in slices too", async () => {
      await store(files, "empty", "\n".repeat(200_000));
      let pauses = 0;
      const tool = createGrepTool(session.env, GREP_LIMITS, async () => {
        pauses += 1;
      });
      await tool.run({ pattern: "^x+$", path: "/memory/empty" }, new AbortController().signal);
      expect(pauses).toBeGreaterThan(100);
    });
  });

  it("ends when it is stopped", async () => {
    const result = await grep({ pattern: "x" }, {}, AbortSignal.abort());
    expect(result.isError).toBe(true);
  });
});
