import { expect, test } from "vitest";
import {
  answers,
  idOf,
  newSession,
  type SessionEvent,
  say,
  sentMessages,
  serviceOfFile,
  stored,
  until,
  untilIdle,
} from "./service.ts";

const service = await serviceOfFile();
const client = await service.client();

test("twenty messages at once become twenty turns in the order of their acknowledgement", async () => {
  const id = await newSession(client);
  const stream = await client.beta.sessions.events.stream(id, undefined, {
    headers: { "Last-Event-ID": "0" },
  });
  const acknowledged = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      client.beta.sessions.events.send(id, { events: [say(`message number ${n}`)] }),
    ),
  );
  const events = await untilIdle(stream);
  const sent = acknowledged
    .flatMap((reply) => reply.data ?? [])
    .map((event) => event as SessionEvent)
    .toSorted((a, b) => (a.seq ?? 0) - (b.seq ?? 0));
  const texts = sent.map((event) =>
    event.type === "user.message" && event.content[0]?.type === "text" ? event.content[0].text : "",
  );
  expect(new Set(texts).size).toBe(20);
  expect(answers(events).map((text) => /message number \d+/.exec(text)?.[0])).toEqual(texts);
  // No interleaving: what belongs to a turn stands together, in the order of the messages. Only what
  // is saved after a turn comes when it comes.
  const turns = events.flatMap((event) =>
    event.turn_id && !("by" in event && event.by === "extraction") ? [event.turn_id] : [],
  );
  const runs = turns.filter((turn, n) => turn !== turns[n - 1]);
  expect(runs).toEqual(sent.map(idOf));
  expect(events.filter((event) => event.type === "session.status_idle")).toHaveLength(1);
  expect(events.filter((event) => event.type === "session.status_running")).toHaveLength(1);
});

test("each model request of queued turns holds whole earlier turns and one new message", async () => {
  const id = await newSession(client);
  await client.beta.sessions.events.send(id, { events: [say("aa"), say("bb"), say("cc")] });
  await until("the session is idle", async () =>
    (await stored(client, id)).some((event) => event.type === "session.status_idle"),
  );
  const roles = sentMessages(service.model, id).map((messages) =>
    messages.map(({ role }) => role[0]).join(""),
  );
  // The first message comes behind the day's date.
  expect(roles).toEqual(["uu", "uuau", "uuauau"]);
});

test("a message that comes at any moment of another turn's end is answered without a nudge", async () => {
  const id = await newSession(client);
  for (let wait = 0; wait < 40; wait += 2) {
    await client.beta.sessions.events.send(id, { events: [say(`first ${wait}`)] });
    await new Promise((resolve) => setTimeout(resolve, wait));
    await client.beta.sessions.events.send(id, { events: [say(`second ${wait}`)] });
  }
  await until(
    "all forty are answered",
    async () => answers(await stored(client, id)).length === 40,
  );
  const events = await stored(client, id);
  // What an extraction tells comes when it comes.
  expect(events.findLast((event) => !("by" in event))?.type).toBe("session.status_idle");
  expect((await client.beta.sessions.retrieve(id)).status).toBe("idle");
});

test("a client that goes away loses nothing: the turn ends and can be read later", async () => {
  const id = await newSession(client);
  service.model.enqueue({
    text: "word ".repeat(40),
    chunkDelayMs: 10,
    match: { session: id, purpose: "main" },
  });
  const stream = await client.beta.sessions.events.stream(id, { event_deltas: ["agent.message"] });
  await client.beta.sessions.events.send(id, { events: [say("tell me a story")] });
  for await (const event of stream) if (event.type === "event_delta") break;
  await until("the turn ended", async () =>
    (await stored(client, id)).some((event) => event.type === "session.status_idle"),
  );
  expect(answers(await stored(client, id))[0]).toBe("word ".repeat(40));
});
