import { expect, expectTypeOf, test } from "vitest";
import type { EventDraft } from "../../../src/shared/events/event.ts";
import { EVENT_TYPES, sessionEvent } from "../../../src/shared/events/event.ts";
import type { ClientEvent } from "./client-events.ts";
import { clientEvent } from "./client-events.ts";

/** `type.field` of each event; an id is the log's to give. */
type FieldsOf<Event> = Event extends { type: string }
  ? `${Event["type"]}.${Exclude<keyof Event & string, "id">}`
  : never;
type Stored = Extract<EventDraft, { type: ClientEvent["type"] }>;

const content = [{ type: "text" as const, text: "Hi" }];
const FULLEST: ClientEvent[] = [
  { type: "user.message", content },
  { type: "user.interrupt", session_thread_id: null },
  { type: "user.tool_confirmation", tool_use_id: "a", result: "deny", deny_message: "no" },
  { type: "user.tool_confirmation", tool_use_id: "a", result: "allow", deny_message: null },
  { type: "user.custom_tool_result", custom_tool_use_id: "a", content, is_error: false },
  { type: "user.custom_tool_result", custom_tool_use_id: "a", is_error: null },
];

test("what the door lets in is stored in the shapes of the log, field by field", () => {
  expectTypeOf<ClientEvent>().toExtend<EventDraft>();
  expectTypeOf<FieldsOf<ClientEvent>>().toEqualTypeOf<FieldsOf<Stored>>();
  const envelope = { seq: 1, id: "sevt_a", processed_at: "2026-01-01T00:00:00.000Z" };
  for (const event of FULLEST) {
    const stored = { ...envelope, ...clientEvent.parse(event) };
    expect(sessionEvent.safeParse(stored).error).toBeUndefined();
  }
});

test("every client event of the log has its door", () => {
  const doors = clientEvent.options.map(({ shape }) => shape.type.value);
  expect(doors).toEqual(EVENT_TYPES.filter((type) => type.startsWith("user.")));
});
