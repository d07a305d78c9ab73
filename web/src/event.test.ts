import { expect, it } from "vitest";
import { parseEvent } from "./event.ts";

const base = { id: "e1", seq: 4, turn_id: "t1" };
const read = { id: "e1", seq: 4, turnId: "t1" };

it("names the memories that were recalled, and is silent where none were", () => {
  const recalled = (selected: { path: string }[]) =>
    parseEvent({ ...base, type: "memory.recalled", offered: 3, selected, dropped: [] });
  expect(recalled([{ path: "tea.md" }, { path: "x/b.md" }])).toEqual({
    ...read,
    kind: "memory-recalled",
    paths: ["tea.md", "x/b.md"],
  });
  expect(recalled([])).toEqual({ ...read, kind: "silent" });
});

it("does not trouble people with what was not saved", () => {
  const skipped = { ...base, type: "memory.skipped", by: "extraction", reason: "nothing_new" };
  expect(parseEvent(skipped)).toEqual({ ...read, kind: "silent" });
});

it("tells of a conversation that was shortened, with its figures", () => {
  const type = "agent.thread_context_compacted";
  expect(parseEvent({ ...base, type, tokens_before: 900, tokens_after: 200 })).toEqual({
    ...read,
    kind: "compacted",
    before: 900,
    after: 200,
  });
});
