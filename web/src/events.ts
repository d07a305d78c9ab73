import type { EventDraft, EventOf } from "../../src/shared/events/event.ts";
import type { Api } from "./api.ts";
import { parseEvent, type SessionEvent } from "./event.ts";
import { asList, asObject, asText } from "./json.ts";
import { listItems } from "./pages.ts";

/** What this page sends, in the shape in which it is stored. */
type ClientEvent = Extract<
  EventDraft,
  { type: "user.message" | "user.interrupt" | "user.tool_confirmation" }
>;

export type Verdict = EventOf<"user.tool_confirmation">["result"];

const PAGE_SIZE = 100;

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

/** Every stored event from the first one, page by page. */
export async function* listEvents(
  api: Api,
  sessionId: string,
  signal: AbortSignal,
): AsyncGenerator<SessionEvent> {
  const query = { limit: String(PAGE_SIZE), order: "asc" };
  for await (const item of listItems(api, eventsPath(sessionId), query, signal)) {
    yield parseEvent(item);
  }
}
