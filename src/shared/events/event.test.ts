import { expect, test } from "vitest";
import type { EventDraft, TurnEventDraft } from "./event.ts";
import { EVENT_TYPES, sessionEvent } from "./event.ts";
import { savedEvent } from "./memory.ts";

const stamped = { seq: 1, id: "sevt_a", processed_at: "2026-01-01T00:00:00.000Z" };
const message = { ...stamped, type: "user.message", content: [{ type: "text", text: "Hi" }] };

test("a draft with a wrong type, a wrong field or one too few does not compile", () => {
  const good: EventDraft = { type: "turn.joined", turn_id: "sevt_a", message_id: "sevt_b" };
  const announced: TurnEventDraft = { type: "agent.thinking", id: "sevt_a" };
  // @ts-expect-error There is no such type.
  const unknown: EventDraft = { type: "turn.left", turn_id: "sevt_a" };
  // @ts-expect-error The field is `message_id`.
  const misspelt: EventDraft = { type: "turn.joined", turn_id: "sevt_a", messageId: "sevt_b" };
  // @ts-expect-error An agent's event belongs to a turn.
  const homeless: EventDraft = { type: "agent.thinking" };
  // @ts-expect-error The number is the log's to give.
  const numbered: EventDraft = { type: "session.deleted", seq: 1 };
  const reason = "bored" as const;
  // @ts-expect-error That is no reason.
  const idle: TurnEventDraft = { type: "memory.skipped", by: "extraction", reason };
  expect([good, announced, unknown, misspelt, homeless, numbered, idle]).toHaveLength(7);
});

test("an event is read whole: with its envelope, without a field that nobody wrote down", () => {
  expect(sessionEvent.safeParse(message).success).toBe(true);
  for (const change of [
    { seq: 0 },
    { seq: undefined },
    { id: undefined },
    { processed_at: "yesterday" },
    { turn_id: "sevt_a" },
    { type: "user.messages" },
    { content: [{ type: "image" }] },
    { unreadable: true },
  ]) {
    expect(sessionEvent.safeParse({ ...message, ...change }).success, JSON.stringify(change)).toBe(
      false,
    );
  }
});

test("each type is there once", () => {
  expect(new Set(EVENT_TYPES).size).toBe(EVENT_TYPES.length);
});

test("receipts become an event with absolute paths", () => {
  const receipt = { path: "a.md", memoryId: "mem_a", versionId: "memver_a", n: 4 };
  const event = savedEvent("agent", "memstore_a", [{ ...receipt, operation: "created" }]);
  expect(event).toEqual({
    type: "memory.saved",
    by: "agent",
    store_id: "memstore_a",
    memories: [
      {
        path: "/a.md",
        operation: "created",
        memory_id: "mem_a",
        memory_version_id: "memver_a",
      },
    ],
  });
  expect(sessionEvent.safeParse({ ...event, ...stamped, turn_id: "sevt_b" }).success).toBe(true);
});
