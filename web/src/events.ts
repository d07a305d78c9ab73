import type { EventDraft, EventOf } from "../../src/shared/events/event.ts";
import type { Api } from "./api.ts";
import { parseEvent, type SessionEvent } from "./event.ts";
import { asList, asObject, asText } from "./json.ts";
import { createTurnOrder, type TurnState } from "./turn-order.ts";

/** What this page sends, in the shape in which it is stored. */
type ClientEvent = Extract<
  EventDraft,
  { type: "user.message" | "user.interrupt" | "user.tool_confirmation" }
>;

export type Verdict = EventOf<"user.tool_confirmation">["result"];

const PAGE_SIZE = 100;
/** What one request may bring. */
const PAGE_MOST = 1000;
const STATUS_TYPES = ["session.status_running", "session.status_idle"];

/** Stored events that follow each other, oldest first. */
export type EventPage = {
  events: SessionEvent[];
  /** The page before them; "" for none. */
  earlier: string;
};

/** The newest events, and how the session was before them. */
export type NewestEvents = EventPage & { before: TurnState };

export function eventsPath(sessionId: string): string {
  return `/v1/sessions/${encodeURIComponent(sessionId)}/events`;
}

/** Sends one event; the same key twice is one event. Answers with the id it was stored under. */
export async function sendEvent(api: Api, sessionId: string, event: ClientEvent, key: string) {
  const response = await api(eventsPath(sessionId), {
    method: "POST",
    headers: { "idempotency-key": key },
    json: { events: [event] },
  });
  return asText(asObject(asList(asObject(await response.json()).data)[0]).id);
}

/** A page of events; without `page` the newest one. */
export async function readEvents(
  api: Api,
  sessionId: string,
  signal: AbortSignal,
  { page = "", limit = PAGE_SIZE, types = [] as readonly string[] } = {},
): Promise<EventPage> {
  const asked = new URLSearchParams({ order: "desc", limit: String(limit) });
  if (page !== "") asked.set("page", page);
  for (const type of types) asked.append("types[]", type);
  const response = await api(`${eventsPath(sessionId)}?${asked}`, { signal });
  const body = asObject(await response.json());
  const events = asList(body.data).map((item) => parseEvent(item));
  return { events: events.reverse(), earlier: asText(body.next_page) };
}

/** Where a session is opened: its end. */
export async function readNewest(
  api: Api,
  sessionId: string,
  signal: AbortSignal,
): Promise<NewestEvents> {
  const newest = await readEvents(api, sessionId, signal);
  const known = stateBefore(newest.events);
  if (known || newest.earlier === "") return { ...newest, before: known ?? "idle" };
  // A turn that is longer than a page.
  const last = await readEvents(api, sessionId, signal, { limit: 1, types: STATUS_TYPES });
  return { ...newest, before: stateAfter(last.events) };
}

/** The newest memories that a session has saved, without what happened in between. */
export async function readSaved(
  api: Api,
  sessionId: string,
  signal: AbortSignal,
): Promise<SessionEvent[]> {
  const asked = { limit: PAGE_MOST, types: ["memory.saved"] };
  return (await readEvents(api, sessionId, signal, asked)).events;
}

/** How a session was before these events, as far as they tell. */
export function stateBefore(events: readonly SessionEvent[]): TurnState | undefined {
  const first = events.find(({ kind }) => kind === "running" || kind === "idle");
  if (!first) return undefined;
  return first.kind === "running" ? "idle" : "running";
}

function stateAfter(events: readonly SessionEvent[]): TurnState {
  const order = createTurnOrder(() => {});
  for (const event of events) order.take(event);
  return order.state();
}
