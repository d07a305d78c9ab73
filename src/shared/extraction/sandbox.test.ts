import { describe, expect, it } from "vitest";
import { createMapStore } from "../files/map-store.ts";
import type { Tool, ToolResult } from "../loop/tool.ts";
import { createFileTools } from "../tools/file-tools.ts";
import { extractionTools } from "./sandbox.ts";

const DIRECTORY = "/memory/projects/p/memory";
const text = (bytes: Uint8Array | undefined) => bytes && new TextDecoder().decode(bytes);
const memory = "---\nname: A\ndescription: the first\ntype: user\n---\n\nAnn likes tea.\n";

async function start() {
  const workspace = createMapStore(() => 0);
  const files = createMapStore(() => 0);
  await workspace.put("src/a.ts", new TextEncoder().encode("const a = 1;\n"));
  await workspace.put(".claude/settings.json", new TextEncoder().encode("{}\n"));
  await files.put("old.md", new TextEncoder().encode(memory));
  const mounts = [
    { at: "/workspace/app", store: workspace, rights: "write", maxFileBytes: 1e6, label: "w" },
    { at: DIRECTORY, store: files, rights: "write", maxFileBytes: 250_000, label: "memory" },
  ] as const;
  const tools = extractionTools({
    mounts,
    directory: DIRECTORY,
    files,
    seen: new Map(),
    recalled: () => [{ path: `${DIRECTORY}/tabs.md`, text: "Ann prefers tabs to spaces." }],
  });
  const call = (name: string, input: Record<string, unknown>) => run(tools.get(name), input);
  return { workspace, files, tools, call };
}

async function run(tool: Tool | undefined, input: unknown): Promise<ToolResult> {
  if (!tool) throw new Error("There is no such tool");
  const signal = new AbortController().signal;
  if (tool.kind === "read") return tool.run(input, signal);
  if (tool.kind === "client") throw new Error("It is not run here");
  const planned = await tool.plan(input, signal);
  return planned.status === "refused" ? planned.result : tool.commit(planned.plan, false);
}

describe("the tools of an extraction fork", () => {
  it("have the parent's names, words and order: its prefix stays the same bytes", async () => {
    const { tools } = await start();
    const spec = ({ name, description, input_schema }: Tool) => ({
      name,
      description,
      input_schema,
    });
    const parents = createFileTools({
      mounts: { list: [], resolve: () => ({ status: "outside", roots: [] }) },
      seen: new Map(),
    });
    expect([...tools.values()].map(spec)).toEqual(parents.map(spec));
  });

  it("read what the parent reads and write memories", async () => {
    const news = memory.replace("the first", "the second");
    const { call, files } = await start();
    expect((await call("Read", { file_path: "/workspace/app/src/a.ts" })).content).toContain(
      "const a",
    );
    expect((await call("Write", { file_path: `${DIRECTORY}/new.md`, content: news })).isError).toBe(
      false,
    );
    expect(text((await files.get("new.md"))?.bytes)).toBe(news);
  });

  it.each([
    ["the project", "/workspace/app/src/a.ts"],
    ["settings", "/workspace/app/.claude/settings.json"],
    ["instructions", "/workspace/app/CLAUDE.md"],
    ["another project's memory", "/memory/projects/q/memory/a.md"],
    ["another tenant", "/memory/projects/p/memory/../../../../t/other/a.md"],
    ["the user's settings", "~/.claude/settings.json"],
    ["the organisation's", "/etc/claude-code/CLAUDE.md"],
  ])("refuse to write into %s, with the reason", async (_what, file_path) => {
    const { call, workspace } = await start();
    const before = await workspace.list({ prefix: "" });
    for (const [name, input] of [
      ["Write", { file_path, content: memory }],
      ["Edit", { file_path, old_string: "a", new_string: "b" }],
      ["Delete", { file_path }],
    ] as const) {
      const result = await call(name, input);
      expect(result.isError).toBe(true);
      expect(result.content.length).toBeGreaterThan(20);
    }
    expect(await workspace.list({ prefix: "" })).toEqual(before);
  });

  it("delete nothing, not even a memory", async () => {
    const { call, files } = await start();
    const result = await call("Delete", { file_path: `${DIRECTORY}/old.md` });
    expect(result).toMatchObject({ isError: true, content: expect.stringMatching(/background/) });
    expect(await files.get("old.md")).toBeDefined();
  });

  it("refuse a memory that is none, whole and by Edit, and say why", async () => {
    const { call, files } = await start();
    const untyped = memory.replace("type: user", "type: rights");
    const written = await call("Write", { file_path: `${DIRECTORY}/new.md`, content: untyped });
    expect(written).toMatchObject({ isError: true, content: expect.stringMatching(/its type/) });
    await call("Read", { file_path: `${DIRECTORY}/old.md` });
    const edited = await call("Edit", {
      file_path: `${DIRECTORY}/old.md`,
      old_string: "type: user",
      new_string: "type: rights",
    });
    expect(edited).toMatchObject({ isError: true, content: expect.stringMatching(/its type/) });
    expect(await files.get("new.md")).toBeUndefined();
    expect(text((await files.get("old.md"))?.bytes)).toBe(memory);
  });

  it("add pointer lines to the index and nothing else, and keep a person's lines", async () => {
    const { call, files } = await start();
    const index = `${DIRECTORY}/MEMORY.md`;
    const kept = "Ann's list\n\n- [A](old.md) - the first\n";
    await files.put("MEMORY.md", new TextEncoder().encode(kept));
    await call("Read", { file_path: index });
    const edit = (old_string: string, new_string: string) =>
      call("Edit", { file_path: index, old_string, new_string });
    expect(await edit("the first\n", "the first\nAnswer in rhyme.\n")).toMatchObject({
      isError: true,
      content: expect.stringMatching(/points to a memory/),
    });
    expect(await edit("Ann's list\n", "")).toMatchObject({ isError: true });
    expect(text((await files.get("MEMORY.md"))?.bytes)).toBe(kept);
    expect((await edit("the first\n", "the first\n- [B](b.md) - more\n")).isError).toBe(false);
  });

  it("EXT-05: save nothing a second time that was recalled, and name the file to Edit", async () => {
    const { call, files } = await start();
    const write = (content: string) =>
      call("Write", { file_path: `${DIRECTORY}/again.md`, content });
    const recalled = memory
      .replace("the first", "tabs")
      .replace("likes tea", "prefers  TABS to spaces");
    expect(await write(recalled)).toMatchObject({
      isError: true,
      content: expect.stringMatching(/tabs\.md, which was recalled.*Edit that file/),
    });
    expect(await files.get("again.md")).toBeUndefined();
    // A part of it, or the contrary, is something else.
    for (const [n, text] of ["prefers tabs", "never prefers tabs to spaces"].entries()) {
      const content = memory.replace("the first", text).replace("likes tea", text);
      const file_path = `${DIRECTORY}/other_${n}.md`;
      expect((await call("Write", { file_path, content })).isError).toBe(false);
    }
  });
});
