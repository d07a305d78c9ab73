import { expect, test } from "vitest";
import type { ToolNote } from "../../shared/loop/tool.ts";
import { toolResult } from "./calls.ts";

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
  const result = { content: "Replaced it", isError: false, notes };
  expect(toolResult.parse(JSON.parse(JSON.stringify(result)))).toEqual(result);
});
