// The whole process group is killed while conversations are being compacted. After the restart each
// turn ends by itself, each conversation is compacted once, and no request is refused.

import { expect, test } from "vitest";
import { compactions, PAD } from "./context-fixture.ts";
import { processOfFile } from "./process-fixture.ts";
import { answers, eventsUntil, say, stored, turn, until } from "./service.ts";

const { model, kill, start, connect } = processOfFile(
  {
    CONTEXT_WINDOW_TOKENS: "12000",
    EXTRACTION_EVERY_TURNS: "0",
    NOTES_FIRST_TOKENS: "1000000000",
  },
  { contextTokens: 12_000 },
);

/** What the compaction has come to when it is killed: its first words, its middle, its end. */
const MOMENTS = [0, 300, 700, 1100];

test("a kill in the middle of a compaction loses nothing and compacts once", {
  timeout: 120_000,
}, async () => {
  const client = connect();
  const sessions = await Promise.all(
    MOMENTS.map(async () => {
      const { id } = await client.beta.sessions.create({
        agent: "default",
        environment_id: "crash",
      });
      for (let n = 1; n <= 10; n += 1) await turn(client, id, `Turn ${n}: ${PAD}`);
      expect(await compactions(client, id)).toEqual([]);
      return id;
    }),
  );
  for (const [n, id] of sessions.entries()) {
    // All are at another moment when the first is to be killed.
    model.enqueue({
      text: "What was said so far. ".repeat(20),
      delayMs: 900 - (MOMENTS[n] ?? 0) / 2,
      chunkDelayMs: 25,
      match: { session: id, purpose: "compaction" },
    });
  }
  const asked = new Map<string, string | undefined>();
  for (const id of sessions) {
    const sent = await client.beta.sessions.events.send(id, {
      events: [say(`Turn 11: ${PAD.repeat(3)}`)],
    });
    asked.set(id, sent.data?.[0]?.id);
  }
  await until("all are being compacted", () => {
    const summaries = model.requests.filter(
      ({ purpose, path }) => purpose === "compaction" && path === "/v1/messages",
    );
    return new Set(summaries.map(({ session }) => session)).size === sessions.length;
  });
  await new Promise((resolve) => setTimeout(resolve, 600));
  await kill();
  await start();
  const again = connect();
  for (const id of sessions) {
    const events = await eventsUntil(again, id, "the end of its turn", (seen) =>
      seen.some((event) => event.type === "session.status_idle" && event.turn_id === asked.get(id)),
    );
    expect(answers(events)).toHaveLength(11);
    expect(await compactions(again, id)).toHaveLength(1);
    expect(events.map((event) => event.seq)).toEqual(events.map((_, n) => n + 1));
    expect(answers(await turn(again, id, "And then?"))).toHaveLength(1);
    const said = (await stored(again, id)).filter((event) => event.type === "user.message");
    expect(said).toHaveLength(12);
  }
  expect(model.requests.filter(({ status }) => status === 400).map(({ error }) => error)).toEqual(
    [],
  );
});
