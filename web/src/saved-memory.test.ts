import { expect, it } from "vitest";
import { parseEvent } from "./event.ts";
import { createSavedMemory, savedLine } from "./saved-memory.ts";

const event = parseEvent({
  type: "memory.saved",
  id: "e1",
  seq: 4,
  turn_id: "t1",
  by: "agent",
  store_id: "memstore_1",
  memories: [
    { path: "/a.md", operation: "created", memory_id: "mem_1", memory_version_id: "memver_1" },
    { path: "/x/b.md", operation: "modified", memory_id: "mem_2", memory_version_id: "memver_2" },
  ],
});

it("a memory.saved event names its store and what was saved there", () => {
  expect(event).toEqual({
    id: "e1",
    seq: 4,
    turnId: "t1",
    kind: "memory-saved",
    storeId: "memstore_1",
    memories: [
      { path: "a.md", operation: "created", memoryId: "mem_1" },
      { path: "x/b.md", operation: "modified", memoryId: "mem_2" },
    ],
  });
});

it("marks what a session saved until another one is opened", () => {
  const saved = createSavedMemory();
  expect(saved.take(event)).toBe(true);
  expect(saved.take(parseEvent({ type: "agent.message", id: "e2", seq: 5 }))).toBe(false);
  expect([saved.has("mem_2"), saved.has("mem_3")]).toEqual([true, false]);
  saved.clear();
  expect(saved.has("mem_2")).toBe(false);
});

it("the line names each path once, and what was deleted apart", () => {
  const of = (path: string, operation: string) => ({ path, operation, memoryId: path });
  const line = savedLine([
    of("a.md", "created"),
    of("MEMORY.md", "modified"),
    of("MEMORY.md", "modified"),
    of("b.md", "created"),
    of("b.md", "deleted"),
  ]);
  expect(line).toBe("Saved to memory: a.md, MEMORY.md · Deleted from memory: b.md");
  expect(savedLine([of("b.md", "deleted")])).toBe("Deleted from memory: b.md");
});

it("thinking without content is nothing to show", () => {
  const base = { type: "agent.thinking", id: "e", seq: 1 };
  expect(parseEvent(base).kind).toBe("silent");
  const content = [{ type: "text", text: "hm" }];
  expect(parseEvent({ ...base, content })).toMatchObject({ kind: "other", detail: "hm" });
});
