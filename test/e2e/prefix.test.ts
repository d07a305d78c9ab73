// The prompt cache depends on bytes: every request of a conversation begins with those of the one
// before, and a fork begins with its parent's, whatever happened in between.

import { expect, test } from "vitest";
import { firstDifference, sentOf } from "../prefix-fixture.ts";
import { extracted } from "./memory-fixture.ts";
import { newSession, say, serviceOfFile, stored, turn, untilIdle } from "./service.ts";

const service = await serviceOfFile({ RECALL_WAIT_MS: "2000" });
const client = await service.client();

const LONG = "The release notes of this week are long and say the same thing again. ".repeat(500);

test("fifty turns with memory, recall, extraction, notes and interrupts never change what was sent", {
  timeout: 180_000,
}, async () => {
  const id = await newSession(client, "prefix");
  for (let n = 0; n < 50; n += 1) {
    await play(id, n);
    // Not after every turn: work that waits while the conversation goes on has to hold too.
    if (n % 6 === 5) await extracted(client, id);
  }
  await extracted(client, id);

  const main = requestsOf(id, "main").map(sentOf);
  expect(main.length).toBeGreaterThan(60);
  for (const [n, request] of main.entries()) {
    const before = main[n - 1];
    if (before) expect(firstDifference(before, request), `request ${n}`).toBeUndefined();
  }

  for (const [purpose, least] of [
    ["extraction", 10],
    ["session-notes", 2],
  ] as const) {
    const forks = requestsOf(id, purpose).map(sentOf);
    expect(forks.length).toBeGreaterThan(least);
    for (const [n, fork] of forks.entries()) {
      const differences = main.map((request) => firstDifference(request, fork));
      const parent = differences.lastIndexOf(undefined);
      expect(parent, `${purpose} ${n} begins like no request of its parent`).toBeGreaterThan(-1);
    }
  }

  const events = await stored(client, id);
  const types = new Set<string>(events.map((event) => event.type));
  for (const type of [
    "memory.recalled",
    "memory.saved",
    "memory.skipped",
    "session_memory.updated",
  ]) {
    expect([...types]).toContain(type);
  }
  expect(JSON.stringify(events)).toContain('"by":"extraction"');
  expect(JSON.stringify(main)).toContain("[The user interrupted this turn.]");
  const recalled: { selected: unknown[] }[] = events.flatMap((event) =>
    (event.type as string) === "memory.recalled" ? [event as unknown as { selected: [] }] : [],
  );
  expect(recalled.filter(({ selected }) => selected.length > 0).length).toBeGreaterThan(0);

  const shares = requestsOf(id, "extraction").flatMap(({ usage }) => {
    if (!usage) return [];
    const read = usage.cache_read_input_tokens;
    const all = read + usage.input_tokens + usage.cache_creation_input_tokens;
    return all < 20_000 ? [] : [{ all, share: read / all }];
  });
  const least = Math.min(...shares.map(({ share }) => share));
  console.log(
    `forks over 20,000 tokens: ${shares.length} requests, ${Math.max(...shares.map(({ all }) => all))} tokens at most, least share read from the cache ${(least * 100).toFixed(2)} %`,
  );
  expect(shares.length).toBeGreaterThan(5);
  expect(least).toBeGreaterThanOrEqual(0.95);
});

async function play(id: string, n: number): Promise<void> {
  const name = ["amber", "birch", "cedar", "daisy", "elder"][Math.floor(n / 10)] ?? "";
  switch (n % 10) {
    case 0:
      return done(id, `Remember that the ${name} server is ${name}.acme.example`);
    case 1:
      return done(id, `What is the address of the ${name} server?`);
    case 2:
      return done(id, `We always call the ${name} team on Fridays.`);
    case 3:
      return interrupt(id, `Tell me a story about ${name}`);
    case 4:
      return done(id, `Create a file notes/${name}.md with the text: ${name} tea`);
    case 5:
      return done(id, `Read notes/${name}.md`);
    case 6:
      return done(id, `${LONG} ${name}`);
    case 7:
      return done(id, `My ${name} account is number ${n}.`);
    case 8:
      return done(id, "thanks");
    default:
      return done(id, `Which team do we call on Fridays, ${name}?`);
  }
}

async function done(id: string, text: string): Promise<void> {
  await turn(client, id, text);
}

async function interrupt(id: string, text: string): Promise<void> {
  service.model.enqueue({
    text: "Once upon a time. ".repeat(40),
    chunkDelayMs: 30,
    match: { session: id, purpose: "main" },
  });
  const stream = await client.beta.sessions.events.stream(id, {
    event_deltas: ["agent.message"],
  });
  await client.beta.sessions.events.send(id, { events: [say(text)] });
  let sent = false;
  const watched = (async function* () {
    for await (const event of stream) {
      if (!sent && (event.type as string) === "event_delta") {
        sent = true;
        await client.beta.sessions.events.send(id, { events: [{ type: "user.interrupt" }] });
      }
      yield event;
    }
  })();
  await untilIdle(watched);
}

function requestsOf(id: string, purpose: string) {
  return service.model.requests.filter(
    (request) => request.session === id && request.purpose === purpose,
  );
}
