import { beforeEach, describe, expect, it } from "vitest";
import type { FileStore } from "../files/store.ts";
import { createGlobTool } from "./glob.ts";
import { PACE_LIMITS } from "./pace.ts";
import { createMemory, mountOf, openSession, type Session, store } from "./tool-fixture.ts";

describe("Glob", () => {
  let memory: FileStore;
  let session: Session;
  beforeEach(async () => {
    memory = createMemory();
    const app = createMemory();
    for (const path of ["MEMORY.md", "d/old.md", "d/e/new.md", "d/x.txt"])
      await store(memory, path, "x");
    await store(app, "src/a.ts", "x");
    await store(app, "d/app.md", "x");
    session = openSession(
      mountOf(memory),
      mountOf(app, { at: "/workspace/app", label: "workspace" }),
    );
  });
  async function paths(input: object): Promise<string[]> {
    const result = await session.call("Glob", input);
    expect(result.isError).toBe(false);
    return result.content.split("\n");
  }

  it("lists newest first", async () => {
    const below = { pattern: "*.md", path: "/memory" };
    const expected = ["/memory/d/e/new.md", "/memory/d/old.md", "/memory/MEMORY.md"];
    expect(await paths(below)).toEqual(expected);
    await store(memory, "MEMORY.md", "y");
    expect((await paths(below))[0]).toBe("/memory/MEMORY.md");
  });

  it("looks everywhere without a path: below each directory, or from the top", async () => {
    expect((await paths({ pattern: "d/*.md" })).sort()).toEqual([
      "/memory/d/old.md",
      "/workspace/app/d/app.md",
    ]);
    expect(await paths({ pattern: "workspace/**/*.ts" })).toEqual(["/workspace/app/src/a.ts"]);
    expect((await paths({ pattern: "*.md" })).length).toBe(4);
  });

  it("takes the pattern relative to path", async () => {
    expect(await paths({ pattern: "*/*.md", path: "/memory/d" })).toEqual(["/memory/d/e/new.md"]);
    expect(await paths({ pattern: "app/src/*", path: "/workspace" })).toEqual([
      "/workspace/app/src/a.ts",
    ]);
  });

  it("takes absolute patterns", async () => {
    expect(await paths({ pattern: "/memory/d/*.md" })).toEqual(["/memory/d/old.md"]);
    expect(await paths({ pattern: "/memory/MEMORY.md" })).toEqual(["/memory/MEMORY.md"]);
    expect(await paths({ pattern: "/*.md" })).toEqual(['No file below / matches "/*.md"']);
    expect((await session.call("Glob", { pattern: "/etc/*" })).content).toContain("outside");
  });

  it.each([
    [{ pattern: "../**" }, /"\.\."/],
    [{ pattern: "*", path: "/etc" }, /outside/],
    [{ pattern: "*", path: "/memory/../x" }, /"\.\."/],
    [{ pattern: "*", path: "/memory/MEMORY.md" }, /no such directory/],
    [{ pattern: "*", path: "/memory/none" }, /no such directory/],
    [{ pattern: "[a" }, /never closed/],
    [{}, /pattern/],
  ])("answers %j with an error", async (input, expected) => {
    const result = await session.call("Glob", input);
    expect(result.isError).toBe(true);
    expect(result.content).toMatch(expected);
  });

  it("says when it shows or looked at only a part", async () => {
    const tool = createGlobTool(session.env, { results: 2, entries: 3, pace: PACE_LIMITS });
    const { content } = await tool.run(
      { pattern: "**", path: "/memory" },
      new AbortController().signal,
    );
    expect(content).toContain("[2 of 3 are shown");
    expect(content).toContain("[Only the first 3 files were looked at");
  });

  it("pauses in long work, ends where the budget ends, and is stopped", async () => {
    for (let n = 0; n < 30; n += 1) await store(memory, `${"ab".repeat(100)}${n}`, "x");
    const limits = { results: 9, entries: 99, pace: { slice: 50_000, all: 400_000 } };
    const stop = new AbortController();
    let pauses = 0;
    const tool = createGlobTool(session.env, limits, async () => {
      pauses += 1;
      if (pauses > 20) stop.abort();
    });
    const input = { pattern: `${"*a".repeat(40)}c`, path: "/memory" };
    expect((await tool.run(input, stop.signal)).content).toContain("the pattern is too slow");
    expect(pauses).toBeGreaterThanOrEqual(7);
    pauses = 20;
    expect(await tool.run(input, stop.signal)).toMatchObject({ isError: true });
  });

  it("says which paths are too long for a pattern", async () => {
    await store(memory, "a".repeat(200), "x");
    const found = await session.call("Glob", { pattern: "*a".repeat(150), path: "/memory" });
    expect(found.content).toContain("[1 files were not looked at");
  });

  it("has an answer for an empty directory", async () => {
    const empty = openSession(mountOf(createMemory()));
    expect((await empty.call("Glob", { pattern: "*" })).content).toContain("No file");
  });
});
