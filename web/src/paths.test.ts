import { expect, it } from "vitest";
import { shortPath, splitPath } from "./paths.ts";

const roots = {
  memory: "/memory/projects/workspace-demo-1a2b/memory",
  workspace: "/workspace/demo",
};

it.each([
  ["/memory/projects/workspace-demo-1a2b/memory/MEMORY.md", "memory/MEMORY.md"],
  ["/memory/projects/workspace-demo-1a2b/memory", "memory/"],
  ["/workspace/demo/notes/a.md", "workspace/notes/a.md"],
  ["/workspace/demo-2/a.md", "/workspace/demo-2/a.md"],
  ["**/*", "**/*"],
])("%s is shown as %s", (path, shown) => {
  expect(shortPath(path, roots)).toBe(shown);
});

it("names the inner one of two that lie in each other, and none that is not there", () => {
  const inner = { memory: "/workspace/demo/.memory/", workspace: "/workspace/demo" };
  expect(shortPath("/workspace/demo/.memory/a.md", inner)).toBe("memory/a.md");
  expect(shortPath("/a.md", { memory: "", workspace: "" })).toBe("/a.md");
});

it("a path keeps its name apart from its folders", () => {
  expect(splitPath("memory/a/b.md")).toEqual(["memory/a/", "b.md"]);
  expect(splitPath("b.md")).toEqual(["", "b.md"]);
  expect(splitPath("memory/a/")).toEqual(["memory/", "a/"]);
});
