import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Served } from "../../dev/stand-in-model/serve.ts";
import { serveStandIn } from "../../dev/stand-in-model/serve.ts";
import { createStandIn } from "../../dev/stand-in-model/stand-in.ts";
import type { Message } from "../shared/query/messages.ts";
import type { Answer, ModelEvent, ModelFailure, ModelRequest } from "../shared/query/model.ts";
import { createAnthropicModel } from "./anthropic-model.ts";

const KEY = "sk-ant-very-secret";
const SECRET = "the PRIVATE content";
const LONG = "A text that is long enough for several chunks, and for some more of them.";

/** From the start, since the SDK takes hold of it with its first client. */
const logged = vi.spyOn(console, "error").mockImplementation(() => {});
const standIn = createStandIn();
let handle: ((request: Request) => Response | Promise<Response>) | undefined;
let served: Served;
/** Node forgets to abort the signal of a Request that nobody holds any more. */
let held: Request[] = [];

beforeAll(async () => {
  served = await serveStandIn({
    handle: async (request) => {
      held.push(request);
      return (handle ?? standIn.handle)(request);
    },
  });
});
afterAll(() => served.close());
beforeEach(() => {
  standIn.reset();
  handle = undefined;
  held = [];
});

const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
const tool = (name: string) => ({ name, description: name, input_schema: { type: "object" } });

function request(messages: Message[] = [user(SECRET)], rest: Partial<ModelRequest> = {}) {
  return {
    purpose: "main" as const,
    sessionId: "sesn_1",
    model: "claude-sonnet-5-5",
    maxTokens: 2000,
    system: ["Be brief."],
    tools: [tool("Read"), tool("Write")],
    messages,
    ...rest,
  };
}

interface Heard {
  events: ModelEvent[];
  outcome: Answer | ModelFailure;
}

interface AskOptions {
  idleMs?: number;
  answerBytes?: number;
  signal?: AbortSignal;
  baseUrl?: string;
  /** Told of each event before the next one is asked for. */
  on?: (event: ModelEvent) => void;
}

async function ask(asked: ModelRequest = request(), options: AskOptions = {}): Promise<Heard> {
  const { idleMs = 5_000, answerBytes = 1_500_000, baseUrl = served.url, on } = options;
  const model = createAnthropicModel({ apiKey: KEY, baseUrl, idleMs, answerBytes });
  const speech = model.stream(asked, options.signal ?? new AbortController().signal);
  const events: ModelEvent[] = [];
  for (let next = await speech.next(); ; next = await speech.next()) {
    if (next.done) return { events, outcome: next.value };
    events.push(next.value);
    on?.(next.value);
  }
}

function answered({ outcome }: Heard): Answer {
  if (outcome.status === "failed") throw new Error(`${outcome.kind}: ${outcome.message}`);
  return outcome;
}

/** A failure, which must tell nothing that is nobody's business. */
function failed({ outcome }: Heard): ModelFailure {
  if (outcome.status === "answered") throw new Error("It answered");
  for (const hidden of [KEY, "127.0.0.1", String(served.port), "PRIVATE", "http"]) {
    expect(JSON.stringify(outcome)).not.toContain(hidden);
  }
  return outcome;
}

const textOf = (events: ModelEvent[]) =>
  events.map((event) => (event.type === "text" ? event.text : "")).join("");

describe("what the server refuses or cannot do", () => {
  test.each([
    [429, "rate_limited"],
    [529, "overloaded"],
    [500, "server_error"],
    [503, "server_error"],
    [504, "server_error"],
    [408, "server_error"],
    [400, "rejected"],
    [401, "rejected"],
    [403, "rejected"],
    [404, "rejected"],
    [413, "too_long"],
  ])("status %i is %s", async (status, kind) => {
    standIn.enqueue({ fault: { type: "status", status, message: `about ${SECRET}` } });
    const failure = failed(await ask());
    expect(failure.kind).toBe(kind);
    expect(failure).not.toHaveProperty("retryAfterMs");
    expect(standIn.requests).toHaveLength(1);
  });

  test.each([429, 500, 529])("status %i: retry-after is kept, in milliseconds", async (status) => {
    standIn.enqueue({ fault: { type: "status", status, retry_after: 7 } });
    expect(failed(await ask()).retryAfterMs).toBe(7_000);
  });

  const LATER = new Date(Date.now() + 100_000).toUTCString();
  test.each([
    [{ "retry-after-ms": "1500", "retry-after": "7" }, 1_500],
    [{ "retry-after-ms": "rubbish", "retry-after": "7" }, 7_000],
    [{ "retry-after": "0.5" }, 500],
    [{ "retry-after": "-3" }, undefined],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "Wed, 21 Oct 2015 07:28:00 GMT" }, undefined],
  ])("the hint of %j is %j ms", async (headers, expected) => {
    handle = () => Response.json({ type: "error" }, { status: 429, headers });
    expect(failed(await ask()).retryAfterMs).toBe(expected);
  });

  test("a retry-after that is a date is the time until then", async () => {
    handle = () => Response.json({}, { status: 429, headers: { "retry-after": LATER } });
    const ms = failed(await ask()).retryAfterMs ?? 0;
    expect(ms).toBeGreaterThan(60_000);
    expect(ms).toBeLessThanOrEqual(100_000);
  });

  test("a prompt that is too long is told from other refusals", async () => {
    const small = createStandIn({ contextTokens: 50 });
    handle = (incoming) => small.handle(incoming);
    expect(failed(await ask(request([user("word ".repeat(500))]))).kind).toBe("too_long");
  });

  test("bad credentials are told as such, without them", async () => {
    handle = () => Response.json({ error: { message: `bad key ${KEY}` } }, { status: 401 });
    expect(failed(await ask()).message).toContain("ANTHROPIC_API_KEY");
  });

  test("a body that is not the API's is a failure like any other", async () => {
    handle = () => new Response(`<html>${SECRET} at ${served.url}</html>`, { status: 502 });
    expect(failed(await ask()).kind).toBe("server_error");
  });

  test("an overloaded server in front of the API is overloaded too", async () => {
    handle = () => new Response("busy", { status: 529 });
    expect(failed(await ask()).kind).toBe("overloaded");
  });

  test("a server that is not there is unreachable", async () => {
    const gone = await serveStandIn(standIn);
    await gone.close();
    expect(failed(await ask(request(), { baseUrl: gone.url })).kind).toBe("unreachable");
  });

  test("the SDK does not try again by itself", async () => {
    standIn.enqueue({ fault: { type: "status", status: 500 }, times: 5 });
    failed(await ask());
    expect(standIn.requests).toHaveLength(1);
  });
});

describe("what breaks off", () => {
  test.each([
    [{ type: "stream_error", after_chunks: 2 } as const, "overloaded"],
    [{ type: "cut", after_chunks: 2 } as const, "cut"],
    [{ type: "end_early", after_chunks: 2 } as const, "cut"],
    [{ type: "stream_error", after_chunks: 0 } as const, "overloaded"],
    [{ type: "cut", after_chunks: 0 } as const, "cut"],
    [{ type: "end_early", after_chunks: 99 } as const, "cut"],
  ])("%j is a failure, though something was said", async (fault, kind) => {
    standIn.enqueue({ text: LONG, fault });
    const heard = await ask();
    expect(failed(heard).kind).toBe(kind);
    expect(LONG.startsWith(textOf(heard.events))).toBe(true);
    if (fault.after_chunks > 0) expect(textOf(heard.events)).not.toBe("");
  });

  test("a stream that ends with its stop reason, but before its last event, is cut", async () => {
    handle = async (incoming) => {
      standIn.enqueue({ text: "Whole?", tools: [{ name: "Write", input: {} }] });
      const whole = await (await standIn.handle(incoming)).text();
      const body = whole.slice(0, whole.indexOf("event: message_stop"));
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    };
    expect(failed(await ask()).kind).toBe("cut");
  });

  test("an event that is no JSON is a failure, and its content is not logged", async () => {
    const body = `event: message_start\ndata: {"type": "${SECRET}\n\n`;
    handle = () => new Response(body, { headers: { "content-type": "text/event-stream" } });
    expect(failed(await ask()).kind).toBe("cut");
    expect(logged).not.toHaveBeenCalled();
  });

  test.each([
    ["headers and some text", { type: "stall", after_chunks: 2 } as const],
    ["headers", { type: "stall", after_chunks: 0 } as const],
    ["nothing at all", { type: "stall_headers" } as const],
  ])("silence after %s is a stall, and the request is ended", async (_after, fault) => {
    standIn.enqueue({ text: LONG, fault });
    const before = Date.now();
    const failure = failed(await ask(request(), { idleMs: 150 }));
    expect(failure).toMatchObject({ kind: "stalled", message: expect.stringContaining("150 ms") });
    expect(Date.now() - before).toBeLessThan(2_000);
    await expect.poll(() => standIn.requests[0]?.aborted).toBe(true);
  });

  test("a stream that never ends by itself after its last event is answered all the same", async () => {
    handle = async (incoming) => {
      standIn.enqueue({ text: "Whole." });
      const whole = await (await standIn.handle(incoming)).text();
      const body = new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode(whole)),
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    };
    const heard = await ask(request(), { idleMs: 150 });
    expect(answered(heard).content).toEqual([{ type: "text", text: "Whole." }]);
  });
});

test("a server that goes on after its last event is left at once", async () => {
  let cancelled = false;
  handle = async (incoming) => {
    standIn.enqueue({ text: "Whole." });
    const whole = new Uint8Array(await (await standIn.handle(incoming)).arrayBuffer());
    const ping = new TextEncoder().encode('event: ping\ndata: {"type": "ping"}\n\n');
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(whole),
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        if (!cancelled) controller.enqueue(ping);
      },
      cancel: () => {
        cancelled = true;
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  const before = Date.now();
  expect(answered(await ask(request(), { idleMs: 60_000 })).content).toHaveLength(1);
  expect(Date.now() - before).toBeLessThan(3_000);
  await expect.poll(() => held[0]?.signal.aborted || cancelled).toBe(true);
});

test("an id that the history has already is not given again", async () => {
  const use = { type: "tool_use" as const, id: "call_0", name: "Read", input: {} };
  const history: Message[] = [
    user("x"),
    { role: "assistant", content: [use] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "call_0", content: "ok" }] },
  ];
  handle = () => {
    const start = { type: "content_block_start", index: 0, content_block: use };
    const events = [
      start,
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "tool_use" } },
      { type: "message_stop" },
    ];
    const body = events.map((e) => `event: ${e.type}\ndata: ${JSON.stringify(e)}\n\n`).join("");
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  const heard = await ask(request(history));
  const [kept] = answered(heard).content;
  expect(kept).toMatchObject({ type: "tool_use", id: expect.not.stringMatching(/^call_0$/) });
  expect(heard.events).toMatchObject([
    { type: "call", call: { id: kept && "id" in kept && kept.id } },
  ]);
});

describe("the watchdog", () => {
  test("keeps quiet while chunks come, however long the whole takes", async () => {
    standIn.enqueue({ text: LONG, chunkDelayMs: 60 });
    const before = Date.now();
    expect(answered(await ask(request(), { idleMs: 300 })).stopReason).toBe("end_turn");
    expect(Date.now() - before).toBeGreaterThan(400);
  });

  test("takes a ping for a sign of life", async () => {
    handle = async (incoming) => {
      standIn.enqueue({ text: "Late." });
      const whole = new Uint8Array(await (await standIn.handle(incoming)).arrayBuffer());
      const body = new ReadableStream({
        async start(controller) {
          for (let n = 0; n < 6; n += 1) {
            await new Promise((resolve) => setTimeout(resolve, 80));
            const ping = 'event: ping\ndata: {"type": "ping"}\n\n';
            controller.enqueue(new TextEncoder().encode(ping));
          }
          controller.enqueue(whole);
          controller.close();
        },
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    };
    expect(answered(await ask(request(), { idleMs: 300 })).content).toHaveLength(1);
  });
});

describe("an abort", () => {
  test.each([
    ["before the headers", { delayMs: 60_000 }],
    ["in the middle of the answer", { fault: { type: "stall", after_chunks: 2 } as const }],
  ])("%s ends the request at the server", async (_when, step) => {
    standIn.enqueue({ text: LONG, ...step });
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 100);
    expect(failed(await ask(request(), { signal: stop.signal })).kind).toBe("aborted");
    await expect.poll(() => standIn.requests[0]?.aborted).toBe(true);
  });

  test("at the first word ends it too", async () => {
    standIn.enqueue({ text: LONG, chunkDelayMs: 30 });
    const stop = new AbortController();
    const heard = await ask(request(), { signal: stop.signal, on: () => stop.abort() });
    expect(failed(heard).kind).toBe("aborted");
    await expect.poll(() => standIn.requests[0]?.aborted).toBe(true);
  });

  test("before the call sends nothing", async () => {
    expect(failed(await ask(request(), { signal: AbortSignal.abort() })).kind).toBe("aborted");
    expect(standIn.requests).toEqual([]);
  });

  test("is not needed where the reader leaves early: the request ends", async () => {
    standIn.enqueue({ text: LONG, fault: { type: "stall", after_chunks: 2 } });
    const options = { apiKey: KEY, baseUrl: served.url, idleMs: 5_000, answerBytes: 9_999 };
    const speech = createAnthropicModel(options).stream(request(), new AbortController().signal);
    await speech.next();
    await speech.return({ status: "failed", kind: "aborted", message: "" });
    await expect.poll(() => standIn.requests[0]?.aborted).toBe(true);
  });
});

const CALL = { name: "Write", input: { key: "a", content: "some text that is to be cut" } };

describe("an answer", () => {
  test("has its text, calls, stop reason and usage, and is announced as it comes", async () => {
    const usage = { input_tokens: 11, output_tokens: 22, cache_creation_input_tokens: 33 };
    standIn.enqueue({
      text: LONG,
      tools: [CALL],
      usage: { ...usage, cache_read_input_tokens: 44 },
    });
    const heard = await ask();
    const answer = answered(heard);
    expect(answer).toMatchObject({ stopReason: "tool_use", cutCall: false });
    expect(answer.content).toMatchObject([
      { type: "text", text: LONG },
      { type: "tool_use", name: "Write", input: CALL.input },
    ]);
    expect(answer.usage).toEqual({ input: 11, output: 22, cacheCreation: 33, cacheRead: 44 });
    expect(textOf(heard.events)).toBe(LONG);
    expect(heard.events.filter((event) => event.type === "call")).toHaveLength(1);
  });

  test("says who asks and for which session", async () => {
    await ask(request([user("x")], { purpose: "recall", sessionId: "sesn_9" }));
    expect(standIn.requests[0]).toMatchObject({
      purpose: "recall",
      session: "sesn_9",
      status: 200,
    });
  });

  const WIDE = "Grüße \u{1F30D}\u{1F468}\u200D\u{1F469} 世界 e\u0301 \u2028 ende";
  test.each(["bytes", 2, 3, 5, "events"] as const)("split by %s is whole", async (split) => {
    standIn.enqueue({ text: WIDE, tools: [{ name: "Write", input: { content: WIDE } }], split });
    const heard = await ask();
    expect(textOf(heard.events)).toBe(WIDE);
    expect(answered(heard).content).toMatchObject([{ text: WIDE }, { input: { content: WIDE } }]);
    expect(JSON.stringify(heard)).not.toContain("\uFFFD");
  });

  test("with a call whose JSON is broken names it and runs nothing of it", async () => {
    standIn.enqueue({ tools: [CALL], fault: { type: "malformed_tool_json" } });
    const heard = await ask();
    const answer = answered(heard);
    expect(answer.content).toMatchObject([{ type: "tool_use", name: "Write", input: {} }]);
    expect(answer.malformed.size).toBe(1);
    expect([...answer.malformed.values()].join()).not.toContain("some text");
    expect(heard.events).toMatchObject([{ type: "call", call: { malformed: expect.any(String) } }]);
  });

  const PIECES = Math.ceil(JSON.stringify(CALL.input).length / 8);
  test.each(Array.from({ length: PIECES }, (_, n) => n + 1))(
    "that the token limit cut in piece %i of a call keeps no call",
    async (piece) => {
      // Two pieces of text come first.
      const fault = { type: "max_tokens", after_chunks: 2 + piece } as const;
      standIn.enqueue({ text: "A text in two", tools: [CALL], fault });
      const answer = answered(await ask());
      expect(answer).toMatchObject({
        stopReason: "max_tokens",
        cutCall: true,
        malformed: new Map(),
      });
      expect(answer.content).toEqual([{ type: "text", text: "A text in two" }]);
    },
  );

  test("that the token limit cut in its text says so", async () => {
    standIn.enqueue({ text: LONG, fault: { type: "max_tokens", after_chunks: 2 } });
    const answer = answered(await ask());
    expect(answer).toMatchObject({ stopReason: "max_tokens", cutCall: false });
    expect(answer.content).toEqual([{ type: "text", text: LONG.slice(0, 16) }]);
  });

  test("with text of white space has none", async () => {
    standIn.enqueue({ text: " \n ", tools: [CALL] });
    expect(answered(await ask()).content).toMatchObject([{ type: "tool_use" }]);
  });

  test.each([
    ["refusal", { type: "refusal" } as const],
    ["pause_turn", { type: "pause_turn" } as const],
    ["model_context_window_exceeded", { type: "context_exceeded" } as const],
    ["stand_in_unknown", { type: "unknown_stop" } as const],
  ])("that stopped for %s says so, and holds no block that we do not know", async (stop, fault) => {
    standIn.enqueue({ text: "So far.", fault });
    const answer = answered(await ask());
    expect(answer.stopReason).toBe(stop);
    expect(answer.content).toEqual([{ type: "text", text: "So far." }]);
  });

  test("over its limit of bytes is a failure, and the request ends", async () => {
    standIn.enqueue({ text: LONG.repeat(50), chunkDelayMs: 1 });
    const heard = await ask(request(), { answerBytes: 900 });
    expect(failed(heard)).toMatchObject({
      kind: "too_large",
      message: expect.stringContaining("900"),
    });
    expect(textOf(heard.events).length).toBeLessThanOrEqual(900);
    await expect.poll(() => standIn.requests[0]?.aborted).toBe(true);
  });
});

describe("what is sent back", () => {
  const result = (answer: Answer): Message => ({
    role: "user",
    content: answer.content.flatMap((block) =>
      block.type === "tool_use"
        ? [{ type: "tool_result" as const, tool_use_id: block.id, content: "ok" }]
        : [],
    ),
  });

  async function goOn(answer: Answer): Promise<Answer> {
    const said: Message = { role: "assistant", content: answer.content };
    return answered(await ask(request([user(SECRET), said, result(answer)])));
  }

  test("thinking keeps its signature and is taken, over several steps", async () => {
    standIn.enqueue({ thinking: "I think \u{1F30D} hard.", text: "Well.", tools: [CALL] });
    const heard = await ask();
    const first = answered(heard);
    expect(heard.events[0]).toEqual({ type: "thinking_start", block: 0 });
    expect(first.content[0]).toMatchObject({
      type: "thinking",
      thinking: "I think \u{1F30D} hard.",
    });
    standIn.enqueue({ thinking: "Again.", text: "Done." });
    expect((await goOn(first)).content).toHaveLength(2);
  });

  test("thinking without a signature, as a cut leaves it, is not kept", async () => {
    const event = (type: string, rest: object) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
    const thinking = { type: "thinking", thinking: "", signature: "" };
    const delta = { type: "thinking_delta", thinking: "half a tho" };
    const body = [
      event("message_start", { message: { usage: { input_tokens: 1, output_tokens: 1 } } }),
      event("content_block_start", { index: 0, content_block: { type: "text", text: "Well." } }),
      event("content_block_stop", { index: 0 }),
      event("content_block_start", { index: 1, content_block: thinking }),
      event("content_block_delta", { index: 1, delta }),
      event("message_delta", { delta: { stop_reason: "max_tokens" }, usage: { output_tokens: 9 } }),
      event("message_stop", {}),
    ].join("");
    handle = () => new Response(body, { headers: { "content-type": "text/event-stream" } });
    expect(answered(await ask()).content).toEqual([{ type: "text", text: "Well." }]);
  });

  test.each([
    ["a value", { content: "xx\ud83c" }],
    ["a value further in", { list: [{ content: "\udf0dxx" }] }],
    ["a key", { "xx\ud83c": "x" }],
  ])("a lone surrogate in %s of a call's input is healed", async (_where, input) => {
    standIn.enqueue({ tools: [{ name: "Write", input }] });
    const first = answered(await ask());
    expect(JSON.stringify(first)).not.toMatch(/\\ud[89a-f]/);
    expect((await goOn(first)).stopReason).toBe("end_turn");
  });

  test("a lone surrogate in the text is healed", async () => {
    standIn.enqueue({ text: "xx\ud83c", tools: [CALL] });
    const first = answered(await ask());
    expect(first.content[0]).toEqual({ type: "text", text: "xx\uFFFD" });
    expect((await goOn(first)).stopReason).toBe("end_turn");
  });

  test("a call without input, or with a name of the prototype's, is taken", async () => {
    const input: Record<string, unknown> = { constructor: "c", toString: { "xx\ud83c": ["x"] } };
    standIn.enqueue({
      tools: [
        { name: "Read", input: {} },
        { name: "Write", input },
      ],
    });
    const first = answered(await ask());
    expect(JSON.stringify(first.content)).toContain('"input":{"constructor":"c","toString":');
    expect((await goOn(first)).stopReason).toBe("end_turn");
  });
});
