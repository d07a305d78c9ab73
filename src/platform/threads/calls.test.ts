import { expect, test } from "vitest";
import type { ToolNote } from "../../shared/loop/tool.ts";
import { callState } from "./calls.ts";

test("a note on disk keeps the receipt of its change", () => {
  const receipt = {
    path: "a.md",
    operation: "modified" as const,
    memoryId: "mem_1",
    versionId: "memver_1",
    n: 7,
  };
  const notes: ToolNote[] = [
    { type: "changed", path: "/memory/a.md", operation: "modified", etag: "e", receipt },
    { type: "changed", path: "/workspace/app/b.md", operation: "created", etag: "f" },
  ];
  const call = { type: "tool_use", id: "toolu_1", name: "Write", input: {} };
  const state = { call, plan: "{}", result: { content: "Replaced it", isError: false, notes } };
  expect(callState.parse(JSON.parse(JSON.stringify(state)))).toEqual(state);
});
