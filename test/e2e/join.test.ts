import { expect, test } from "vitest";
import {
  answers,
  idOf,
  type SessionEvent,
  say,
  sentMessages,
  sharedService,
  stored,
  until,
} from "./service.ts";
import { confirm, ended, script, session, untilPaused, write } from "./waiting-fixture.ts";

const service = await sharedService();
const client = await service.client();
const JOIN = { mid_turn_messages: "join" };
const send = (id: string, ...texts: string[]) =>
  client.beta.sessions.events.send(id, { events: texts.map(say) });
const glob = { name: "Glob", input: { pattern: "*.md" } };
const SLOW = { chunkDelayMs: 10 };

/** Sends a message and, when the model has been asked so often, others. */
async function during(id: string, calls: number, ...texts: string[]): Promise<void> {
  await send(id, "go");
  await until("the model is asked", () => sentMessages(service.model, id).length === calls);
  await send(id, ...texts);
}

const joinedOf = (events: readonly SessionEvent[]) =>
  events.flatMap((event) =>
    String(event.type) === "turn.joined" ? [[event.turn_id, Reflect.get(event, "message_id")]] : [],
  );
const messagesOf = (events: readonly SessionEvent[]) =>
  events.filter((event) => event.type === "user.message").map(idOf);
const textsOf = (messages: readonly { role: string; content: unknown }[]) =>
  messages.map(({ role, content }) => `${role}: ${JSON.stringify(content, withoutMark)}`);
/** The cache's mark moves with each request. */
const withoutMark = (key: string, value: unknown) => (key === "cache_control" ? undefined : value);

test("messages that come while a turn uses tools join it behind the results, in order", async () => {
  const own = await session(client, JOIN);
  script(service.model, own, { text: "w ".repeat(100), tools: [glob], ...SLOW }, { text: "Done." });
  await during(own.id, 1, "also tea", "and milk");
  const all = await ended(client, own.id);
  const [go, tea, milk] = messagesOf(all);
  expect(joinedOf(all)).toEqual([
    [go, tea],
    [go, milk],
  ]);
  expect(answers(all)).toHaveLength(2);
  const [first = [], second = []] = sentMessages(service.model, own.id);
  expect(textsOf(second.slice(0, first.length))).toEqual(textsOf(first));
  const behind = textsOf(second.slice(first.length));
  expect(behind.join()).toMatch(/assistant: .*tool_result.*also tea.*and milk/);
  expect(all.filter((event) => event.type === "session.status_idle")).toHaveLength(1);
});

test("one that comes during the final answer has its own turn", async () => {
  const own = await session(client, JOIN);
  script(service.model, own, { tools: [glob] }, { text: "w ".repeat(100), ...SLOW });
  await during(own.id, 2, "also tea", "and milk");
  const all = await ended(client, own.id);
  expect(joinedOf(all)).toEqual([]);
  expect(answers(all).slice(-2)).toEqual([
    expect.stringContaining("also tea"),
    expect.stringContaining("and milk"),
  ]);
});

test("messages sent together before a turn are turns of their own", async () => {
  const own = await session(client, JOIN);
  await send(own.id, "one", "two");
  const all = await ended(client, own.id);
  expect(joinedOf(all)).toEqual([]);
  expect(answers(all)).toHaveLength(2);
});

test("whenever a message comes, it is answered exactly once", { timeout: 120_000 }, async () => {
  for (let wait = 0; wait < 400; wait += 20) {
    const own = await session(client, JOIN);
    script(
      service.model,
      own,
      { text: "w ".repeat(8), tools: [glob], ...SLOW },
      { text: "w ".repeat(8), tools: [glob], ...SLOW },
      { text: "last words", ...SLOW },
    );
    await send(own.id, "go");
    await new Promise((resolve) => setTimeout(resolve, wait));
    await send(own.id, `tea ${wait}`);
    await until("all is answered", async () => {
      const { status } = await client.beta.sessions.retrieve(own.id);
      return status === "idle";
    });
    const requests = sentMessages(service.model, own.id);
    const final = JSON.stringify(requests.at(-1));
    expect(final.split(`tea ${wait}`)).toHaveLength(2);
    // The last word is the model's: what joined was seen by a call of its own.
    const all = await stored(client, own.id);
    const joined = joinedOf(all).length > 0;
    expect(answers(all)).toHaveLength(joined ? 3 : 4);
  }
});

test("one that waits while an approval is due joins when the turn goes on", async () => {
  const own = await session(client, { ...JOIN, permission_mode: "ask" });
  script(service.model, own, { tools: [write(own.at("a.md"))] }, { text: "Done." });
  const { open } = await untilPaused(client, own);
  await send(own.id, "also tea");
  await client.beta.sessions.events.send(own.id, { events: [confirm(open[0] ?? "")] });
  const all = await ended(client, own.id);
  expect(joinedOf(all)).toHaveLength(1);
  expect(answers(all)).toEqual(["Done."]);
  expect(JSON.stringify(sentMessages(service.model, own.id).at(-1))).toMatch(
    /tool_result.*also tea/,
  );
});

test("an interrupt ends the turn; a message that comes behind it is not swallowed", async () => {
  const own = await session(client, JOIN);
  script(service.model, own, { text: "w ".repeat(100), tools: [glob], ...SLOW });
  await send(own.id, "go");
  await until("the model is asked", () => sentMessages(service.model, own.id).length === 1);
  await client.beta.sessions.events.send(own.id, {
    events: [say("before"), { type: "user.interrupt" }, say("instead")],
  });
  const all = await ended(client, own.id);
  expect(joinedOf(all)).toEqual([]);
  expect(answers(all).slice(-2)).toEqual([
    expect.stringContaining("before"),
    expect.stringContaining("instead"),
  ]);
});

test("without it messages wait for turns of their own", async () => {
  const own = await session(client, { mid_turn_messages: "queue" });
  script(service.model, own, { text: "w ".repeat(40), tools: [glob], ...SLOW }, { text: "Done." });
  await during(own.id, 1, "also tea");
  const all = await ended(client, own.id);
  expect(joinedOf(all)).toEqual([]);
  expect(answers(all).at(-1)).toContain("also tea");
});
