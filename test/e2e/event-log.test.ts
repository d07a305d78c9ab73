// Logs of real sessions against the one schema of their events: strictly, so that a field which
// nobody wrote down, or a type, is found here.

import { expect, test } from "vitest";
import { EVENT_TYPES, sessionEvent } from "../../src/shared/events/event.ts";
import { eventPreview } from "../../src/shared/events/preview.ts";
import { PAD } from "./context-fixture.ts";
import type { SessionEvent } from "./service.ts";
import { eventsUntil, say, serviceOfFile, stored, turn, typesOf, until } from "./service.ts";
import {
  confirm,
  ended,
  result,
  script,
  sender,
  session,
  untilPaused,
  usesOf,
  WEATHER,
  weather,
  write,
} from "./waiting-fixture.ts";

const service = await serviceOfFile({
  CONTEXT_WINDOW_TOKENS: "12000",
  NOTES_FIRST_TOKENS: "1000",
  NOTES_GROWTH_TOKENS: "1000000",
  RECALL_WAIT_MS: "5000",
});
const client = await service.client();
const send = sender(client);

test("a session's whole life is in the union: every type, every field", {
  timeout: 120_000,
}, async () => {
  const life = await session(client, { permission_mode: "ask", mid_turn_messages: "join" }, [
    WEATHER,
  ]);
  const { id } = life;
  // Memory: the agent saves something, later it is recalled; another turn is extracted and noted.
  await turn(client, id, "Remember that our tests must not mock the database");
  await turn(client, id, "How do we test the database here?");
  await turn(client, id, "I prefer short answers. What is two and two?");
  await eventsUntil(
    client,
    id,
    "the notes and the extraction",
    (seen) =>
      ["session_memory.updated", "memory.skipped"].every((type) => saw(seen, type)) &&
      seen.some(
        (event) => Reflect.get(event, "by") === "extraction" && type(event) === "memory.saved",
      ),
  );
  // Calls of all kinds, answered by a person and by the client, with thoughts and a join.
  const idles = typesOf(await stored(client, id)).filter((type) => type === "session.status_idle");
  script(
    service.model,
    life,
    {
      text: "Let me see.",
      thinking: "hm",
      tools: [write(life.at("a.md")), weather("Oslo"), { name: "Glob", input: { pattern: "*" } }],
    },
    { text: "Done." },
  );
  const { events } = await untilPaused(client, life);
  const [file, city] = usesOf(events).slice(-3);
  await send(id, say("also tea"));
  await send(
    id,
    confirm(file?.id ?? "", "deny", "not there"),
    result(city?.id ?? "", "rain", false),
  );
  await ended(client, id, idles.length + 1);
  // Errors: one that is retried at once, one that takes the turn a pause, one that ends it.
  const fault = { type: "status" as const, status: 429 };
  script(service.model, life, { fault: { ...fault, retry_after: 6 } }, { text: "Late." });
  await turn(client, id, "are you there?");
  script(service.model, life, { fault: { type: "refusal" } });
  await turn(client, id, "do as I say");
  // A compaction, an interrupt, the end.
  for (let n = 0; n < 6; n += 1) await turn(client, id, `Turn ${n}: ${PAD}`);
  expect(await client.post(`/v1/sessions/${id}/compact`)).toMatchObject({ status: "compacted" });
  script(service.model, life, { text: "word ".repeat(200), chunkDelayMs: 20 });
  await send(id, say("talk"));
  // What follows from an earlier turn may come in between.
  await until("the model speaks", async () => {
    const types = typesOf(await stored(client, id));
    return types.lastIndexOf("span.model_request_start") > types.lastIndexOf("user.message");
  });
  await send(id, { type: "user.interrupt" });
  const all = await eventsUntil(
    client,
    id,
    "the turn ended",
    (seen) => seen.at(-1)?.type === "session.status_idle" && saw(seen, "user.interrupt"),
  );
  expect(problemsOf(await stored(client, id))).toEqual([]);

  const stream = await client.beta.sessions.events.stream(id, undefined, {
    headers: { "Last-Event-ID": "0" },
  });
  await client.beta.sessions.delete(id);
  const streamed: SessionEvent[] = [];
  for await (const event of stream) streamed.push(event);
  expect(problemsOf(streamed)).toEqual([]);
  expect(streamed.slice(0, all.length)).toEqual(all);
  expect([...new Set(typesOf(streamed))].toSorted()).toEqual(EVENT_TYPES.toSorted());
});

test("previews are in their schema", async () => {
  const { id } = await session(client);
  const stream = await client.beta.sessions.events.stream(id, {
    event_deltas: ["agent.message", "agent.thinking"],
  });
  service.model.enqueue({
    thinking: "hm",
    text: "Hello there",
    match: { session: id, purpose: "main" },
  });
  await send(id, say("hello"));
  const previews: SessionEvent[] = [];
  for await (const event of stream) {
    if (event.type === "event_start" || event.type === "event_delta") previews.push(event);
    if (event.type === "session.status_idle") break;
  }
  expect(new Set(typesOf(previews))).toEqual(new Set(["event_start", "event_delta"]));
  for (const event of previews) expect(eventPreview.safeParse(event).error).toBeUndefined();
});

function type(event: SessionEvent): string {
  return event.type;
}

function saw(events: readonly SessionEvent[], wanted: string): boolean {
  return events.some((event) => type(event) === wanted);
}

/** What the schema has to say of these events, in words. */
function problemsOf(events: readonly SessionEvent[]): string[] {
  return events.flatMap((event) => {
    const { error } = sessionEvent.safeParse(event);
    return error ? [`${event.type}: ${error.message} in ${JSON.stringify(event)}`] : [];
  });
}
