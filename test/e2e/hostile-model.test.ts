// The whole service against a model's server that keeps to no rule, and that refuses, as the real
// one does, a history that is not valid.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  answers,
  NO_BACKGROUND,
  newSession,
  type SessionEvent,
  startTestService,
  stored,
  type TestService,
  turn,
  until,
} from "./service.ts";

type Messages = Anthropic.MessageParam[];
type Events = object[] | ((response: ServerResponse) => void);
/** What is answered to a message of this text: `step` counts the answers to it. */
type Scenario = (step: number, workspace: string) => Events;

const start = (usage: unknown = { input_tokens: 1, output_tokens: 1 }) => ({
  type: "message_start",
  message: { id: "m", type: "message", role: "assistant", content: [], usage },
});
const text = (index: number, words: string) => [
  { type: "content_block_start", index, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index, delta: { type: "text_delta", text: words } },
  { type: "content_block_stop", index },
];
const call = (index: number, id: string, name: string, input: unknown) => {
  const partial_json = typeof input === "string" ? input : JSON.stringify(input);
  return [
    {
      type: "content_block_start",
      index,
      content_block: { type: "tool_use", id, name, input: {} },
    },
    { type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json } },
    { type: "content_block_stop", index },
  ];
};
const end = (stop_reason: string, usage: unknown = { output_tokens: 5 }) => [
  { type: "message_delta", delta: { stop_reason }, usage },
  { type: "message_stop" },
];
const done = [start(), ...text(0, "done"), ...end("end_turn")];
const SLOW = "(?:a[ab]{0,9}){9}[^ab]";

const SCENARIOS: Record<string, Scenario> = {
  "same id twice": (step, w) =>
    step > 0
      ? done
      : [
          start(),
          ...call(0, "toolu_w", "Write", { file_path: `/workspace/${w}/1`, content: "one" }),
          ...call(1, "toolu_w", "Write", { file_path: `/workspace/${w}/2`, content: "two" }),
          ...call(2, "toolu_w", "Read", { file_path: `/workspace/${w}/none` }),
          ...end("tool_use"),
        ],
  "same id in each answer": (step) =>
    step > 2
      ? done
      : [start(), ...call(0, "call_0", "Glob", { pattern: `*${step}` }), ...end("tool_use")],
  "ids and names of no use": (step) =>
    step > 0
      ? done
      : [
          start(),
          ...call(0, "", "Glob", { pattern: "*" }),
          ...call(1, "a b", "Gl ob", '{"__proto__":{"a":1},"pattern":"*"}'),
          ...call(2, "constructor", "Glob", '{"__proto__":{"a":1},"pattern":"*"}'),
          ...call(3, "__proto__", "__proto__", { pattern: "*" }),
          ...end("tool_use"),
        ],
  "many large reads": (step, w) =>
    step > 0
      ? done
      : [
          start(),
          ...call(0, "w", "Write", { file_path: `/workspace/${w}/written`, content: "x" }),
          ...Array.from({ length: 24 }, (_, n) =>
            call(n + 1, `r${n}`, "Read", { file_path: `/workspace/${w}/big` }),
          ).flat(),
          ...end("tool_use"),
        ],
  "no end of a call": (step, w) =>
    step > 0
      ? done
      : [
          start(),
          ...call(0, "a", "Write", { file_path: `/workspace/${w}/1`, content: "1" }).slice(0, 2),
          ...call(1, "b", "Write", '{"file_path":').slice(0, 2),
          ...end("tool_use"),
        ],
  "no usage": () => [
    { type: "message_start", message: {} },
    ...text(0, "said"),
    { type: "message_delta", delta: { stop_reason: "end_turn" } },
    { type: "message_stop" },
  ],
  "absurd usage": () => [
    start({ input_tokens: 1e308, output_tokens: "x" }),
    ...text(0, "said"),
    ...end("end_turn", { output_tokens: -7.5 }),
  ],
  "control characters": () => [
    start(),
    ...Array.from({ length: 5 }, (_, n) => text(n, "\u0001".repeat(90_000))).flat(),
    ...end("end_turn"),
  ],
  "a block without text": () => [
    start(),
    { type: "content_block_start", index: 0, content_block: { type: "text" } },
    ...text(0, "said").slice(1),
    ...end("end_turn"),
  ],
  "pings behind the end": () => (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of [start(), ...text(0, "said"), ...end("end_turn")]) {
      response.write(frame(event));
    }
    const pings = setInterval(() => response.write(frame({ type: "ping" })), 200);
    response.on("close", () => clearInterval(pings));
  },
  "a slow search": (step) =>
    step > 0 ? done : [start(), ...call(0, "g", "Grep", { pattern: SLOW }), ...end("tool_use")],
};

const steps = new Map<string, number>();
const refused: string[] = [];
const histories = new Map<string, Messages>();
const server = createServer((request, response) => void serve(request, response));
let service: TestService;
let client: Anthropic;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  service = await startTestService({
    ...NO_BACKGROUND,
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
  });
  client = await service.client();
});
afterAll(async () => {
  await service.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** A turn of a scenario, then one that shows that the session still works. */
async function play(name: string): Promise<{ events: SessionEvent[]; id: string; ms: number }> {
  const workspace = name.replaceAll(" ", "-");
  const id = await newSession(client, workspace);
  const before = Date.now();
  const events = await turn(client, id, name);
  const ms = Date.now() - before;
  expect(answers(await turn(client, id, "again"))).toEqual(["again"]);
  expect(refused).toEqual([]);
  // What clients were told of each call is what the model is told.
  const told = (await stored(client, id)).flatMap((event) =>
    event.type === "agent.tool_result"
      ? (event.content?.flatMap((block) => ("text" in block ? [block.text] : [])) ?? [])
      : [],
  );
  expect(told.toSorted()).toEqual(resultsOf(id).toSorted());
  return { events, id, ms };
}

test("two calls of one id are two calls: both are done, told and kept", async () => {
  const { events } = await play("same id twice");
  expect(kinds(events)).toEqual([]);
  expect(results(events)).toEqual([true, false, false]);
  expect(await file("same-id-twice", "1")).toBe("one");
  expect(await file("same-id-twice", "2")).toBe("two");
});

test("an id that comes in each answer is renamed, and the session goes on", async () => {
  const { events } = await play("same id in each answer");
  expect(kinds(events)).toEqual([]);
  expect(results(events)).toEqual([false, false, false]);
});

test("ids and names that the API would refuse do not reach the history", async () => {
  const { events } = await play("ids and names of no use");
  expect(results(events)).toHaveLength(4);
  expect(answers(events)).toEqual(["done"]);
});

test("results that are too large together are cut, and told as cut; the turn goes on", {
  timeout: 60_000,
}, async () => {
  await put("many-large-reads", "big", `${"y".repeat(900)}\n`.repeat(110));
  const { events, id } = await play("many large reads");
  expect(kinds(events)).toEqual([]);
  expect(answers(events)).toEqual(["done"]);
  expect(results(events)).toHaveLength(25);
  const sent = resultsOf(id);
  expect(JSON.stringify(sent).length).toBeLessThan(1_000_000);
  expect(sent.filter((content) => content.includes("bytes were left out"))).not.toEqual([]);
  expect(await file("many-large-reads", "written")).toBe("x");
});

test("a call without its end is run where its input is whole, else answered and told", async () => {
  const { events } = await play("no end of a call");
  expect(kinds(events)).toEqual(["unknown_error"]);
  expect(results(events).toSorted()).toEqual([false, true]);
  expect(await file("no-end-of-a-call", "1")).toBe("1");
});

test.each(["no usage", "absurd usage", "a block without text"])(
  "%s is no failure",
  async (name) => {
    const { events, id } = await play(name);
    expect(kinds(events)).toEqual([]);
    expect(answers(events)).toEqual(["said"]);
    const { usage } = await client.beta.sessions.retrieve(id);
    for (const tokens of [usage?.input_tokens, usage?.output_tokens]) {
      expect(Number.isInteger(tokens)).toBe(true);
      expect(tokens).toBeGreaterThanOrEqual(0);
      expect(tokens).toBeLessThanOrEqual(2_000_000_000);
    }
  },
);

test("an answer that is too large as JSON ends the turn as such", async () => {
  const { events } = await play("control characters");
  const [error] = events.filter((event) => event.type === "session.error");
  expect(error?.type === "session.error" && error.error.message).toContain("larger than");
});

test("a server that pings behind the end does not hold the turn", async () => {
  const { events, ms } = await play("pings behind the end");
  expect(answers(events)).toEqual(["said"]);
  expect(ms).toBeLessThan(5_000);
});

test("a slow search lets others in, and an interrupt stops it", { timeout: 60_000 }, async () => {
  const line = `${randomLine(280)}\n`;
  for (let n = 0; n < 4; n += 1) await put("a-slow-search", `f${n}`, line.repeat(3_000));
  const id = await newSession(client, "a-slow-search");
  const running = turn(client, id, "a slow search");
  await until("the search runs", async () =>
    (await stored(client, id)).some((event) => event.type === "agent.tool_use"),
  );
  let slowest = 0;
  for (let n = 0; n < 10; n += 1) {
    const before = Date.now();
    expect((await fetch(`${service.url}/health`)).status).toBe(200);
    slowest = Math.max(slowest, Date.now() - before);
  }
  expect(slowest).toBeLessThan(2_000);
  await client.beta.sessions.events.send(id, { events: [{ type: "user.interrupt" }] });
  const events = await running;
  expect(answers(events)).toEqual([]);
  expect(answers(await turn(client, id, "again"))).toEqual(["again"]);
});

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.on("error", () => {});
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { messages } = JSON.parse(Buffer.concat(chunks).toString()) as { messages: Messages };
  const session = String(request.headers["x-memdir-session"]);
  histories.set(session, messages);
  const wrong = refusal(messages);
  if (wrong !== undefined) {
    refused.push(wrong);
    const error = { type: "invalid_request_error", message: wrong };
    response.writeHead(400, { "content-type": "application/json" });
    response.end(JSON.stringify({ type: "error", error }));
    return;
  }
  const asked = messages.flatMap((message) =>
    message.role === "user"
      ? blocksOf(message).flatMap((b) => (b.type === "text" ? [b.text] : []))
      : [],
  );
  const name = asked.at(-1) ?? "";
  const key = `${session} ${name}`;
  const step = steps.get(key) ?? 0;
  steps.set(key, step + 1);
  const events = SCENARIOS[name]?.(step, name.replaceAll(" ", "-")) ?? [
    start(),
    ...text(0, "again"),
    ...end("end_turn"),
  ];
  if (typeof events === "function") return events(response);
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(events.map(frame).join(""));
}

/** Why the API would refuse this history. */
function refusal(messages: Messages): string | undefined {
  const ids = new Set<string>();
  let open: string[] = [];
  for (const message of messages) {
    const asked: string[] = [];
    const answered: string[] = [];
    for (const block of blocksOf(message)) {
      if (block.type === "text" && block.text === "") return "an empty text";
      if (block.type === "tool_result") answered.push(block.tool_use_id);
      if (block.type !== "tool_use") continue;
      if (!/^[a-zA-Z0-9_-]{1,64}$/.test(block.id)) return `the id ${block.id}`;
      if (!/^[a-zA-Z0-9_-]{1,128}$/.test(block.name)) return `the name ${block.name}`;
      if (ids.has(block.id)) return `tool_use ids must be unique: ${block.id}`;
      ids.add(block.id);
      asked.push(block.id);
    }
    if (answered.join() !== open.join()) return `asked [${open}], answered [${answered}]`;
    open = asked;
  }
  return undefined;
}

function blocksOf({ content }: Anthropic.MessageParam): Anthropic.ContentBlockParam[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

/** The contents of all results that the model was last sent. */
function resultsOf(session: string): string[] {
  return (histories.get(session) ?? []).flatMap((message) =>
    blocksOf(message).flatMap((block) =>
      block.type === "tool_result" ? [String(block.content)] : [],
    ),
  );
}

function frame(event: object): string {
  const type = "type" in event ? event.type : "";
  return `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`;
}

function kinds(events: readonly SessionEvent[]): string[] {
  return events.flatMap((event) => (event.type === "session.error" ? [event.error.type] : []));
}

function results(events: readonly SessionEvent[]): boolean[] {
  return events.flatMap((e) => (e.type === "agent.tool_result" ? [e.is_error === true] : []));
}

async function put(workspace: string, path: string, body: string): Promise<void> {
  const headers = { authorization: `Bearer ${await service.token()}` };
  const url = `${service.url}/v1/workspaces/${workspace}/files/${path}`;
  expect((await fetch(url, { method: "PUT", headers, body })).ok).toBe(true);
}

async function file(workspace: string, path: string): Promise<string> {
  const headers = { authorization: `Bearer ${await service.token()}` };
  return (
    await fetch(`${service.url}/v1/workspaces/${workspace}/files/${path}`, { headers })
  ).text();
}

function randomLine(length: number): string {
  return Array.from({ length }, () => (Math.random() < 0.5 ? "a" : "b")).join("");
}
