// Session notes from outside: when they are updated, that their requests read the parent's cache, that
// people read and change them, and that they stay in their session.

import type Anthropic from "@anthropic-ai/sdk";
import { expect, test } from "vitest";
import { filesBelow } from "./memory-fixture.ts";
import {
  bucketOf,
  eventsUntil,
  newSession,
  type SessionEvent,
  serviceOfFile,
  stored,
  turn,
  until,
} from "./service.ts";

const service = await serviceOfFile({ EXTRACTION_EVERY_TURNS: "0", RECALL_WAIT_MS: "2000" });
const client = await service.client();
const bucket = await bucketOf(service);

/** What a main answer says of its usage: so many tokens in all, most of them from the cache. */
const usage = (tokens: number) => ({
  input_tokens: 4,
  cache_read_input_tokens: tokens - 40,
  cache_creation_input_tokens: 16,
  output_tokens: 20,
});

test("SESS-01, SESS-02: updates come exactly at the thresholds, by the size of the conversation", {
  timeout: 120_000,
}, async () => {
  // Answers of one turn each: tokens, calls that it asks for, and the updates that there are then.
  const table: [tokens: number, calls: number, updates: number][] = [
    [9_999, 0, 0],
    [9_999, 3, 0],
    [10_000, 1, 1],
    [14_999, 3, 1],
    [14_999, 0, 1],
    [15_000, 0, 2],
    [19_999, 2, 2],
    [20_000, 1, 3],
    [24_999, 0, 3],
    [25_000, 2, 3],
    [25_000, 1, 4],
    [114_000, 0, 5],
  ];
  const id = await newSession(client);
  for (const [n, [tokens, calls, updates]] of table.entries()) {
    // A turn of calls ends with an answer that has shrunk again: only the one with calls is looked at.
    const tools = Array.from({ length: calls }, (_, call) => ({
      name: "Glob",
      input: { pattern: `${n}-${call}` },
    }));
    const match = { session: id, purpose: "main" };
    if (calls > 0) {
      service.model.enqueue({ text: "look", tools, usage: usage(tokens), match });
      service.model.enqueue({ text: "done", usage: usage(tokens - 5_000), match });
    } else service.model.enqueue({ text: "done", usage: usage(tokens), match });
    const events = await turn(client, id, `step ${n}`);
    const what = `update ${updates} behind ${tokens} tokens and ${calls} calls`;
    await eventsUntil(client, id, what, (seen) => updatesIn(seen).length >= updates);
    expect(runsBegun(id), what).toBe(updates);
    if (updates > (table[n - 1]?.[2] ?? 0)) {
      const [last] = updatesIn(await stored(client, id)).slice(-1);
      expect(last).toMatchObject({ turn_id: events.at(-1)?.turn_id });
    }
  }
  console.table(table.map(([tokens, calls, updates]) => ({ tokens, calls, updates })));
  const requests = requestsOf(id, "session-notes").length;
  await expect
    .poll(() => client.get(`/v1/usage?session_id=${id}`), { timeout: 20_000 })
    .toMatchObject({
      data: expect.arrayContaining([
        expect.objectContaining({ purpose: "session-notes", requests }),
      ]),
    });
});

test("the fork's requests begin with the parent's bytes, in the middle of a turn too, and read its cache", async () => {
  const id = await newSession(client);
  const match = { session: id, purpose: "main" };
  const long = "All that is known of the harbour, the boats and their crews. ".repeat(700);
  service.model.enqueue({
    text: "Let me look.",
    tools: [{ name: "Glob", input: { pattern: "**" } }],
    match,
  });
  await turn(client, id, `Build me a boat. ${long}`);
  await updated(client, id, 1);
  const [first, second] = requestsOf(id, "main");
  const forks = requestsOf(id, "session-notes");
  expect(forks.length).toBeGreaterThan(1);
  for (const fork of forks) {
    expect(fork.status).toBe(200);
    for (const part of ["model", "tools", "system", "thinking", "max_tokens"] as const) {
      expect(JSON.stringify(fork.body[part]), part).toBe(JSON.stringify(first?.body[part]));
    }
    const sent = blocksOf(fork);
    // It began when the results were there: its prefix is what the parent's next request was sent.
    expect(sent.slice(0, blocksOf(second).length)).toEqual(blocksOf(second));
    const {
      cache_read_input_tokens: read,
      input_tokens,
      cache_creation_input_tokens,
    } = fork.usage ?? {
      cache_read_input_tokens: 0,
      input_tokens: 1,
      cache_creation_input_tokens: 0,
    };
    expect(read / (read + input_tokens + cache_creation_input_tokens)).toBeGreaterThan(0.8);
  }
  // What the fork said and was told never reaches the conversation.
  await turn(client, id, "thanks");
  expect(JSON.stringify(requestsOf(id, "main"))).not.toContain("session_notes");
});

test("a slow update delays nobody", async () => {
  const id = await newSession(client);
  service.model.enqueue({
    text: "Nothing.",
    delayMs: 4_000,
    match: { session: id, purpose: "session-notes" },
  });
  service.model.enqueue({
    text: "hm",
    usage: usage(10_000),
    match: { session: id, purpose: "main" },
  });
  await turn(client, id, "Build me a boat");
  await until("the fork asks", () => requestsOf(id, "session-notes").length > 0);
  const started = performance.now();
  await turn(client, id, "What is two and two?");
  expect(performance.now() - started).toBeLessThan(3_000);
});

test("a section over its limit is named to the fork, and is condensed by the next update", async () => {
  const id = await newSession(client);
  const { notes } = (await notesOf(id)).body;
  const log = Array.from({ length: 300 }, (_, n) => `- step ${n} of the work on the boat`).join(
    "\n",
  );
  const put = await call("PUT", id, { notes: `${notes}${log}\n` }, { "if-match": '"0"' });
  expect(sizeIn(put.body, "Work log")).toBeGreaterThan(2_000);
  service.model.enqueue({
    text: "hm",
    usage: usage(10_000),
    match: { session: id, purpose: "main" },
  });
  await turn(client, id, "Paint the boat");
  const [event] = await updated(client, id, 1);
  expect(JSON.stringify(requestsOf(id, "session-notes")[0]?.body.messages.at(-1))).toMatch(
    /Condense these sections first[^"]*\\"Work log\\" \(\d,\d{3} tokens\)/,
  );
  const after = (await notesOf(id)).body;
  expect(sizeIn(after, "Work log")).toBeLessThan(2_000);
  expect(after.notes).toContain("- step 299 of the work on the boat\n- Paint the boat");
  expect(event?.tokens).toBe(after.tokens);
  expect(event?.sections.map(({ name }) => name)).toEqual([
    "Title",
    "Current state",
    "Task",
    "Work log",
  ]);
});

test("a person reads the notes and changes them, by what they know of them", async () => {
  const id = await newSession(client);
  const first = await notesOf(id);
  expect(first).toMatchObject({ status: 200, etag: '"0"', body: { updated_at: null } });
  expect(first.body.sections).toHaveLength(9);
  const mine = first.body.notes.replace("# Task\n", "# Task\nMine.\n");
  const made = await call("PUT", id, { notes: mine }, { "if-none-match": "*" });
  expect(made).toMatchObject({ status: 200, etag: '"1"', body: { notes: mine } });
  expect(await notesOf(id)).toMatchObject({ etag: '"1"', body: made.body });
  expect((await call("GET", id, undefined, { "if-none-match": '"1"' })).status).toBe(304);

  const refusals: [unknown, Record<string, string>, number, RegExp][] = [
    [{ notes: mine }, { "if-match": '"0"' }, 412, /changed meanwhile/],
    [{ notes: mine }, { "if-none-match": "*" }, 412, /changed meanwhile/],
    [{ notes: mine }, { "if-match": "*" }, 400, /If-Match/],
    [
      { notes: mine.replace("# Lessons\n", "") },
      {},
      400,
      /notes: the heading "# Lessons" is missing/,
    ],
    [{ notes: "" }, {}, 400, /"# Title", "# Current state"/],
    [{ notes: `${mine}${"x".repeat(100_000)}` }, {}, 413, /the limit is 100000/],
    [{ notes: 1 }, {}, 400, /notes/],
    [{ text: mine }, {}, 400, /notes/],
  ];
  for (const [body, headers, status, message] of refusals) {
    const answer = await call("PUT", id, body, headers);
    expect([answer.status, answer.body.error?.message]).toEqual([
      status,
      expect.stringMatching(message),
    ]);
  }
  expect((await notesOf(id)).body.notes).toBe(mine);
  await client.beta.sessions.archive(id);
  expect((await notesOf(id)).body.notes).toBe(mine);
  expect((await call("PUT", id, { notes: mine })).status).toBe(400);
  await client.beta.sessions.delete(id);
  expect((await notesOf(id)).status).toBe(404);
});

test("SESS-06: notes are in no other session, in no memory and in no recall", async () => {
  const workspace = "notes-apart";
  const words = ["zanzibar", "quokka"];
  const ids: string[] = [];
  for (const word of words) {
    const id = await newSession(client, workspace);
    ids.push(id);
    service.model.enqueue({
      text: "hm",
      usage: usage(10_000),
      match: { session: id, purpose: "main" },
    });
    await turn(client, id, `Tell me about ${word} and its coast`);
  }
  for (const [n, id] of ids.entries()) {
    await updated(client, id, 1);
    const { notes } = (await notesOf(id)).body;
    expect(notes).toContain(words[n]);
    expect(notes).not.toContain(words[1 - n]);
  }
  const third = await newSession(client, workspace);
  expect((await notesOf(third)).body.notes).not.toMatch(/zanzibar|quokka/);
  const events = await turn(client, third, "What do we know about the coast of zanzibar?");
  expect(JSON.stringify(events.filter(({ type }) => type !== "user.message"))).not.toContain(
    "session_notes",
  );
  for (const { purpose, body } of service.model.requests.filter(
    ({ session }) => session === third,
  )) {
    expect(JSON.stringify(body), purpose).not.toMatch(/# Current state|quokka/);
  }
  const files = await filesBelow(bucket, "t/");
  expect([...files.values()].join("\n")).not.toMatch(/# Current state/);
});

interface Notes {
  notes: string;
  tokens: number;
  sections: { name: string; tokens: number }[];
  updated_at: string | null;
  error?: { message: string };
}
type Updated = SessionEvent & { tokens: number; sections: { name: string; tokens: number }[] };

function sizeIn({ sections }: Notes, name: string): number | undefined {
  return sections.find((section) => section.name === name)?.tokens;
}

async function notesOf(id: string) {
  return call("GET", id);
}

async function call(
  method: string,
  id: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; etag: string | null; body: Notes }> {
  const response = await fetch(`${service.url}/v1/sessions/${id}/notes`, {
    method,
    headers: { authorization: `Bearer ${await service.token()}`, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    etag: response.headers.get("etag"),
    body: text === "" ? {} : JSON.parse(text),
  };
}

function updatesIn(events: readonly SessionEvent[]): Updated[] {
  return events.flatMap((event) =>
    (event.type as string) === "session_memory.updated" ? [event as Updated] : [],
  );
}

async function updated(of: Anthropic, id: string, count: number): Promise<Updated[]> {
  return updatesIn(
    await eventsUntil(of, id, `${count} updates`, (seen) => updatesIn(seen).length >= count),
  );
}

interface Sent {
  status: number;
  body: Record<string, unknown> & { messages: { role: string; content: unknown[] }[] };
  usage?: {
    input_tokens: number;
    cache_read_input_tokens: number;
    cache_creation_input_tokens: number;
  };
}

function requestsOf(id: string, purpose: string): Sent[] {
  return service.model.requests.filter(
    (request) => request.session === id && request.purpose === purpose,
  ) as unknown as Sent[];
}

/** Forks that were begun: their first request ends with their task. */
function runsBegun(id: string): number {
  return requestsOf(id, "session-notes").filter(({ body }) =>
    JSON.stringify(body.messages.at(-1)).includes("session_notes"),
  ).length;
}

function blocksOf(request: Sent | undefined): string[] {
  const messages = request?.body.messages ?? [];
  return messages.flatMap(({ role, content }) =>
    content.map((block) => {
      const { cache_control: _, ...rest } = block as Record<string, unknown>;
      return JSON.stringify([role, rest]);
    }),
  );
}
