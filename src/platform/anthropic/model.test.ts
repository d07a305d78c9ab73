import { describe, expect, test } from "vitest";
import { createFakeModel } from "../../../dev/fake-model/fake-model.ts";
import { serveFakeModel } from "../../../dev/fake-model/serve.ts";
import type { Message } from "../../shared/thread/messages.ts";
import { createAnthropicModel } from "./model.ts";
import {
  answered,
  ask,
  failed,
  fakeModel,
  KEY,
  LONG,
  logged,
  request,
  SECRET,
  server,
  textOf,
  user,
  withModelServer,
} from "./model-fixture.ts";

withModelServer();

describe("what the server refuses or cannot do", () => {
  test.each([
    [429, "rate_limited"],
    [529, "overloaded"],
    [500, "server_error"],
    [503, "server_error"],
    [504, "server_error"],
    [408, "server_error"],
    [400, "rejected"],
    [401, "denied"],
    [402, "denied"],
    [403, "denied"],
    [404, "denied"],
    [413, "too_long"],
  ])("status %i is %s", async (status, kind) => {
    fakeModel.enqueue({ fault: { type: "status", status, message: `about ${SECRET}` } });
    const failure = failed(await ask());
    expect(failure.kind).toBe(kind);
    expect(failure.retryAfterMs).toBeUndefined();
    expect(fakeModel.requests).toHaveLength(1);
  });

  test.each([429, 500, 529])("status %i: retry-after is kept, in milliseconds", async (status) => {
    fakeModel.enqueue({ fault: { type: "status", status, retry_after: 7 } });
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
    server.handle = () => Response.json({ type: "error" }, { status: 429, headers });
    expect(failed(await ask()).retryAfterMs).toBe(expected);
  });

  test("a retry-after that is a date is the time until then", async () => {
    server.handle = () => Response.json({}, { status: 429, headers: { "retry-after": LATER } });
    const ms = failed(await ask()).retryAfterMs ?? 0;
    expect(ms).toBeGreaterThan(60_000);
    expect(ms).toBeLessThanOrEqual(100_000);
  });

  test("a prompt that is too long is told from other refusals", async () => {
    const small = createFakeModel({ contextTokens: 50 });
    server.handle = (incoming) => small.handle(incoming);
    expect(failed(await ask(request([user("word ".repeat(500))]))).kind).toBe("too_long");
  });

  test("bad credentials are told as such, without them", async () => {
    server.handle = () => Response.json({ error: { message: `bad key ${KEY}` } }, { status: 401 });
    expect(failed(await ask()).message).toContain("ANTHROPIC_API_KEY");
  });

  test("a body that is not the API's is a failure like any other", async () => {
    server.handle = () => new Response(`<html>${SECRET} at ${server.url}</html>`, { status: 502 });
    expect(failed(await ask()).kind).toBe("server_error");
  });

  test("an overloaded server in front of the API is overloaded too", async () => {
    server.handle = () => new Response("busy", { status: 529 });
    expect(failed(await ask()).kind).toBe("overloaded");
  });

  test("a server that is not there is unreachable", async () => {
    const gone = await serveFakeModel(fakeModel);
    await gone.close();
    expect(failed(await ask(request(), { baseUrl: gone.url })).kind).toBe("unreachable");
  });

  test("nothing is tried again by itself", async () => {
    fakeModel.enqueue({ fault: { type: "status", status: 500 }, times: 5 });
    failed(await ask());
    expect(fakeModel.requests).toHaveLength(1);
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
    fakeModel.enqueue({ text: LONG, fault });
    const heard = await ask();
    expect(failed(heard).kind).toBe(kind);
    expect(LONG.startsWith(textOf(heard.events))).toBe(true);
    if (fault.after_chunks > 0) expect(textOf(heard.events)).not.toBe("");
  });

  test("a stream that ends with its stop reason, but before its last event, is cut", async () => {
    server.handle = async (incoming) => {
      fakeModel.enqueue({ text: "Whole?", tools: [{ name: "Write", input: {} }] });
      const whole = await (await fakeModel.handle(incoming)).text();
      const body = whole.slice(0, whole.indexOf("event: message_stop"));
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    };
    expect(failed(await ask()).kind).toBe("cut");
  });

  test("an event that is no JSON is a failure, and its content is not logged", async () => {
    const body = `event: message_start\ndata: {"type": "${SECRET}\n\n`;
    server.handle = () => new Response(body, { headers: { "content-type": "text/event-stream" } });
    expect(failed(await ask()).kind).toBe("cut");
    expect(logged).not.toHaveBeenCalled();
  });

  test.each([
    ["headers and some text", { type: "stall", after_chunks: 2 } as const],
    ["headers", { type: "stall", after_chunks: 0 } as const],
    ["nothing at all", { type: "stall_headers" } as const],
  ])("silence after %s is a stall, and the request is ended", async (_after, fault) => {
    fakeModel.enqueue({ text: LONG, fault });
    const before = Date.now();
    const failure = failed(await ask(request(), { idleMs: 150 }));
    expect(failure).toMatchObject({ kind: "stalled", message: expect.stringContaining("150 ms") });
    expect(Date.now() - before).toBeLessThan(2_000);
    await expect.poll(() => fakeModel.requests[0]?.aborted).toBe(true);
  });

  test("a stream that never ends by itself after its last event is answered all the same", async () => {
    server.handle = async (incoming) => {
      fakeModel.enqueue({ text: "Whole." });
      const whole = await (await fakeModel.handle(incoming)).text();
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
  server.handle = async (incoming) => {
    fakeModel.enqueue({ text: "Whole." });
    const whole = new Uint8Array(await (await fakeModel.handle(incoming)).arrayBuffer());
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
  await expect.poll(() => server.held[0]?.signal.aborted || cancelled).toBe(true);
});

test("an id that the history has already is not given again", async () => {
  const use = { type: "tool_use" as const, id: "call_0", name: "Read", input: {} };
  const history: Message[] = [
    user("x"),
    { role: "assistant", content: [use] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "call_0", content: "ok" }] },
  ];
  server.handle = () => {
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
    fakeModel.enqueue({ text: LONG, chunkDelayMs: 60 });
    const before = Date.now();
    expect(answered(await ask(request(), { idleMs: 300 })).stopReason).toBe("end_turn");
    expect(Date.now() - before).toBeGreaterThan(400);
  });

  test("takes a ping for a sign of life", async () => {
    server.handle = async (incoming) => {
      fakeModel.enqueue({ text: "Late." });
      const whole = new Uint8Array(await (await fakeModel.handle(incoming)).arrayBuffer());
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
    fakeModel.enqueue({ text: LONG, ...step });
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 100);
    expect(failed(await ask(request(), { signal: stop.signal })).kind).toBe("aborted");
    await expect.poll(() => fakeModel.requests[0]?.aborted).toBe(true);
  });

  test("at the first word ends it too", async () => {
    fakeModel.enqueue({ text: LONG, chunkDelayMs: 30 });
    const stop = new AbortController();
    const heard = await ask(request(), { signal: stop.signal, on: () => stop.abort() });
    expect(failed(heard).kind).toBe("aborted");
    await expect.poll(() => fakeModel.requests[0]?.aborted).toBe(true);
  });

  test("before the call sends nothing", async () => {
    expect(failed(await ask(request(), { signal: AbortSignal.abort() })).kind).toBe("aborted");
    expect(fakeModel.requests).toEqual([]);
  });

  test("is not needed where the reader leaves early: the request ends", async () => {
    fakeModel.enqueue({ text: LONG, fault: { type: "stall", after_chunks: 2 } });
    const options = { apiKey: KEY, baseUrl: server.url, idleMs: 5_000, answerBytes: 9_999 };
    const speech = createAnthropicModel(options).stream(request(), new AbortController().signal);
    await speech.next();
    await speech.return({ status: "failed", kind: "aborted", message: "" });
    await expect.poll(() => fakeModel.requests[0]?.aborted).toBe(true);
  });
});
