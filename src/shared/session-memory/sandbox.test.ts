import { beforeEach, describe, expect, it } from "vitest";
import type { Tool, ToolResult } from "../loop/tool.ts";
import { createFileTools } from "../tools/file-tools.ts";
import { copyNotes, type NotesCopy } from "./sandbox.ts";
import { NOTES_PATH, NOTES_TEMPLATE } from "./template.ts";

const NOTES = NOTES_TEMPLATE.replace("# Task\n", "# Task\nBuild a boat.\n");
const parents = createFileTools({
  mounts: { list: [], resolve: () => ({ status: "outside", roots: [] }) },
  seen: new Map(),
});
const custom = { name: "get_weather", description: "w", input_schema: { type: "object" } };
let copy: NotesCopy;

beforeEach(async () => {
  copy = await copyNotes(NOTES, [...parents, custom], () => 0);
});

async function call(name: string, input: unknown): Promise<ToolResult> {
  const tool = copy.tools.get(name);
  if (!tool) throw new Error("There is no such tool");
  const signal = new AbortController().signal;
  if (tool.kind === "read") return tool.run(input, signal);
  if (tool.kind === "client") throw new Error("Nobody answers here");
  const planned = await tool.plan(input, signal);
  return planned.status === "refused" ? planned.result : tool.commit(planned.plan, false);
}

describe("the tools of a notes fork", () => {
  it("have the parent's names, words and order, a client's own too: its prefix stays the same bytes", () => {
    const spec = ({ name, description, input_schema }: Omit<Tool, "kind">) =>
      JSON.stringify({ name, description, input_schema });
    expect([...copy.tools.values()].map(spec)).toEqual(
      [...parents, custom as unknown as Tool].map(spec),
    );
  });

  it("Edit changes the copy, without a Read before it", async () => {
    const result = await call("Edit", {
      file_path: NOTES_PATH,
      old_string: "Build a boat.",
      new_string: "Build a ship.",
    });
    expect(result).toMatchObject({ isError: false });
    expect(await copy.read()).toBe(NOTES.replace("boat", "ship"));
  });

  it.each<[string, string, Record<string, unknown>]>([
    ["Write on the notes", "Write", { file_path: NOTES_PATH, content: NOTES }],
    [
      "Edit on MEMORY.md",
      "Edit",
      { file_path: "/memory/projects/p/memory/MEMORY.md", old_string: "a", new_string: "b" },
    ],
    [
      "Edit on another session's notes",
      "Edit",
      { file_path: "/session/sesn_x/notes.md", old_string: "a", new_string: "b" },
    ],
    [
      "Edit by a path that leads out",
      "Edit",
      { file_path: "/session/../workspace/a.md", old_string: "a", new_string: "b" },
    ],
    [
      "Edit that removes two headings",
      "Edit",
      {
        file_path: NOTES_PATH,
        old_string: NOTES.slice(NOTES.indexOf("# Lessons"), NOTES.indexOf("# Work log")),
        new_string: "",
      },
    ],
    [
      "Edit that empties the whole",
      "Edit",
      { file_path: NOTES_PATH, old_string: NOTES, new_string: "" },
    ],
    [
      "Edit that takes all that was noted",
      "Edit",
      { file_path: NOTES_PATH, old_string: "Build a boat.\n" },
    ],
    [
      "Edit that makes them too large",
      "Edit",
      { file_path: NOTES_PATH, old_string: "boat", new_string: "x".repeat(100_000) },
    ],
    ["Read of a source file", "Read", { file_path: "/workspace/w/src/a.ts" }],
    ["Read of the notes", "Read", { file_path: NOTES_PATH }],
    ["Delete of the notes", "Delete", { file_path: NOTES_PATH }],
    ["Glob", "Glob", { pattern: "**" }],
    ["Grep", "Grep", { pattern: "a" }],
    ["a tool of the client", "get_weather", {}],
    ["Edit without a path", "Edit", { old_string: "a", new_string: "b" }],
    ["Edit with no input at all", "Edit", {}],
  ])("SESS-05: %s is refused with a reason and changes nothing", async (_what, name, input) => {
    const result = await call(name, input);
    expect(result.isError).toBe(true);
    expect(result.content.length).toBeGreaterThan(30);
    const elsewhere = "file_path" in input && input.file_path !== NOTES_PATH;
    if (name !== "Edit" || elsewhere)
      expect(result.content).toMatch(/^Refused: .* Edit, on \/sess/);
    expect(await copy.read()).toBe(NOTES);
  });
});
