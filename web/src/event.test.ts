import { expect, it } from "vitest";
import { parseEvent, parsePreview } from "./event.ts";

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

it("goes on with what an older or newer service says: types and fields that it does not know", () => {
  expect(parseEvent({ ...base, type: "agent.dreamt", reason: "tired" })).toEqual({
    ...read,
    kind: "other",
    type: "agent.dreamt",
    detail: "tired",
  });
  expect(parseEvent({ ...base, type: "toString" })).toMatchObject({ kind: "other" });
  expect(
    parseEvent({ ...base, type: "session.status_idle", stop_reason: { type: "napping" }, x: 1 }),
  ).toEqual({ ...read, kind: "idle", reason: "napping" });
  expect(parseEvent({ ...base, type: "session.error", unreadable: true })).toEqual({
    ...read,
    kind: "error",
    message: "Unknown error",
    retry: "",
  });
  expect(parseEvent("no event")).toMatchObject({ kind: "other", type: "unknown" });
});

it("tells a preview from a stored event", () => {
  const delta = { type: "content_delta", index: 1, content: { type: "text", text: "Hel" } };
  const preview = { type: "event_start", event: { id: "e1", type: "agent.message" } };
  expect(parsePreview(preview)).toEqual({ kind: "start", id: "e1", type: "agent.message" });
  expect(parsePreview({ type: "event_delta", event_id: "e1", delta })).toEqual({
    kind: "delta",
    id: "e1",
    index: 1,
    text: "Hel",
  });
  expect(parsePreview({ ...base, type: "agent.message" })).toBeUndefined();
});
