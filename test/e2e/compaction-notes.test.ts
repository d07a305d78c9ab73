// COMP-01: a compaction uses the notes, and waits for an update in flight, but not for ever.

import type Anthropic from "@anthropic-ai/sdk";
import { describe, expect, test } from "vitest";
import { compactions, firstText, PAD, requestsFor } from "./context-fixture.ts";
import {
  answers,
  eventsUntil,
  newSession,
  say,
  sentMessages,
  serviceOfFile,
  turn,
  untilIdle,
} from "./service.ts";

const service = await serviceOfFile({
  EXTRACTION_EVERY_TURNS: "0",
  CONTEXT_WINDOW_TOKENS: "12000",
  NOTES_FIRST_TOKENS: "5000",
  NOTES_GROWTH_TOKENS: "1000",
  NOTES_WAIT_MS: "1500",
});
const client = await service.client();

/** More than a compaction keeps without need. */
const LONG = PAD.repeat(3);
/** Two ways to a compaction: the size that the model reports, and its refusal in the middle of a turn. */
const PATHS = { auto: 8_700, too_long: 7_000 } as const;

describe.each(["auto", "too_long"] as const)("on the path %s", (path) => {
  test("an update that ends in time is in the summary", async () => {
    const { id, first } = await compactWhileNoting(path, { delayMs: 700 });
    expect(first).toContain("Second state");
    expect(first).not.toContain("First state");
    expect(await notesOf(id)).toContain("Second state");
  });

  test("one that is late is not waited for: the older notes are used, and stay", async () => {
    const { id, first } = await compactWhileNoting(path, { delayMs: 2_500 });
    expect(first).toContain("First state");
    // What the older notes do not know stands behind them, word for word.
    expect(JSON.stringify(sentMessages(service.model, id).at(-1))).toContain("the second message");
    await new Promise((resolve) => setTimeout(resolve, 1_600));
    expect(await notesOf(id)).toContain("First state");
    expect(await notesOf(id)).not.toContain("Second state");
  });

  test("one that never ends holds up nothing", async () => {
    const { id, first } = await compactWhileNoting(path, { fault: { type: "stall_headers" } });
    expect(first).toContain("First state");
    expect(await notesOf(id)).toContain("First state");
    // And the next one is not held up by it.
    enqueueNotes(id, "First state", "Third state");
    enqueueSize(id, path === "auto" ? 8_700 : 7_900);
    await turn(client, id, "the fourth message");
    await eventsUntil(
      client,
      id,
      "a third state",
      (events) =>
        JSON.stringify(events).includes("session_memory.updated") &&
        events.filter((event) => (event.type as string) === "session_memory.updated").length === 2,
    );
    expect(await notesOf(id)).toContain("Third state");
  });
});

test("SESS-01: growth counts from the size behind the compaction", async () => {
  const { id } = await compactWhileNoting("auto", { delayMs: 100 });
  const [{ tokens_after: after } = { tokens_after: 0 }] = await compactions(client, id);
  const before = requestsFor(service, id, "session-notes").length;
  enqueueSize(id, after + 900);
  await turn(client, id, "a little more");
  expect(requestsFor(service, id, "session-notes")).toHaveLength(before);
  enqueueNotes(id, "Second state", "Third state");
  enqueueSize(id, after + 1_100);
  await turn(client, id, "and more");
  await eventsUntil(
    client,
    id,
    "the update",
    (events) =>
      events.filter((event) => (event.type as string) === "session_memory.updated").length === 3,
  );
});

test("a compaction with notes asks for no summary; without any it does", async () => {
  const { id } = await compactWhileNoting("auto", { delayMs: 100 });
  expect(requestsFor(service, id, "compaction")).toEqual([]);
  expect(await compactions(client, id)).toMatchObject([{ used_notes: true }]);
  const bare = await client.beta.sessions.create({
    agent: "default",
    environment_id: "bare",
    metadata: { bare: "true" },
  });
  enqueueSize(bare.id, 8_700);
  await turn(client, bare.id, `the first message ${LONG}`);
  await turn(client, bare.id, "the second message");
  expect(await compactions(client, bare.id)).toMatchObject([{ used_notes: false }]);
  expect(requestsFor(service, bare.id, "compaction")).toHaveLength(1);
});

/**
 * A conversation whose first notes are written, and whose second update is under way, slowed down so,
 * when it has to be compacted.
 */
async function compactWhileNoting(path: keyof typeof PATHS, slow: Record<string, unknown>) {
  const id = await newSession(client);
  enqueueNotes(id, "", "First state");
  enqueueSize(id, 5_500);
  await turn(client, id, `the first message ${LONG}`);
  await eventsUntil(client, id, "the first notes", (events) =>
    events.some((event) => (event.type as string) === "session_memory.updated"),
  );
  enqueueNotes(id, "First state", "Second state", slow);
  enqueueSize(id, PATHS[path]);
  await turn(client, id, `the second message ${LONG}`);
  if (path === "too_long") {
    service.model.enqueue({
      fault: { type: "status", status: 400, message: "prompt is too long: 9 tokens > 8 maximum" },
      match: { session: id, purpose: "main" },
    });
  }
  const stream = await client.beta.sessions.events.stream(id);
  await client.beta.sessions.events.send(id, { events: [say("the third message")] });
  expect(answers(await untilIdle(stream))).toHaveLength(1);
  expect(await compactions(client, id)).toMatchObject([{ trigger: path, used_notes: true }]);
  return { id, first: firstText(sentMessages(service.model, id).at(-1)) };
}

/** An update that writes this in place of that. */
function enqueueNotes(
  id: string,
  old: string,
  text: string,
  slow: Record<string, unknown> = {},
): void {
  const heading =
    "# Current state\n_What is being done right now, what is half done, the next step_\n";
  const input = {
    file_path: "/session/notes.md",
    old_string: old === "" ? heading : `${heading}${old}`,
    new_string: `${heading}${text}`,
  };
  const match = { session: id, purpose: "session-notes" };
  service.model.enqueue({ text: "I note.", tools: [{ name: "Edit", input }], match, ...slow });
  if (slow.fault === undefined) service.model.enqueue({ text: "That is all.", match });
}

/** The next answer says that the conversation has so many tokens. */
function enqueueSize(id: string, tokens: number): void {
  service.model.enqueue({
    text: "Yes.",
    usage: {
      input_tokens: tokens - 10,
      output_tokens: 10,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
    },
    match: { session: id, purpose: "main" },
  });
}

async function notesOf(id: string): Promise<string> {
  const { notes }: { notes: string } = await (client as Anthropic).get(`/v1/sessions/${id}/notes`);
  return notes;
}
