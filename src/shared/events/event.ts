// Everything that stands in a session's event log, as clients get it. A row is written from a typed
// draft and handed on as text: nothing parses it on the way out. A row that is damaged goes out as a
// placeholder `{seq, id, type, unreadable: true}`, which no schema takes.

import * as z from "zod";
import { agentEvents } from "./agent.ts";
import type { envelope } from "./envelope.ts";
import { memoryEvents } from "./memory.ts";
import { sessionEvents } from "./session.ts";
import { spanEvents } from "./span.ts";
import { userEvents } from "./user.ts";

/** Strict: a field that is not named here is a mistake. A reader of other versions is more lenient. */
export const sessionEvent = z.discriminatedUnion("type", [
  ...userEvents,
  ...agentEvents,
  ...sessionEvents,
  ...spanEvents,
  ...memoryEvents,
]);

export type SessionEvent = z.infer<typeof sessionEvent>;
export type EventType = SessionEvent["type"];
export type EventOf<Type extends EventType> = Extract<SessionEvent, { type: Type }>;

export const EVENT_TYPES: readonly EventType[] = sessionEvent.options.map(
  (option) => option.shape.type.value,
);

/** What the log stamps on an event by itself. */
type Stamped = keyof typeof envelope;
/** `id` is given where a preview has already announced it. */
type DraftOf<Event, Without extends PropertyKey> = Event extends unknown
  ? { [Field in keyof Event as Exclude<Field, Without>]: Event[Field] } & {
      id?: string | undefined;
    }
  : never;

/** An event before it is in the log. */
export type EventDraft = DraftOf<SessionEvent, Stamped>;
/** A draft of an event that belongs to a turn, before it is told which. */
export type TurnEventDraft = DraftOf<
  Extract<SessionEvent, { turn_id: string }>,
  Stamped | "turn_id"
>;
