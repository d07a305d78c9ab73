import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createFakeModel } from "./fake-model.ts";
import { ask, clientAt, clientOver } from "./probe.ts";
import { type Served, serveFakeModel } from "./serve.ts";

const fakeModel = createFakeModel();
let served: Served;
let client: Anthropic;

beforeAll(async () => {
  served = await serveFakeModel(fakeModel);
  client = clientAt(served.url);
});
afterAll(() => served.close());
beforeEach(() => fakeModel.reset());

const TEXT = "A text that is long enough for several chunks.";
const TOOL: Anthropic.Tool = { name: "Write", input_schema: { type: "object" } };
const CALL = { name: "Write", input: { file_path: "/a.md", content: "some text to be cut" } };

const stream = () => client.messages.stream({ ...ask("x"), tools: [TOOL] });

async function eventsUntilEnd(): Promise<{ types: string[]; error: unknown }> {
  const types: string[] = [];
  try {
    const params = { ...ask("x"), stream: true } as const;
    for await (const event of await client.messages.create(params)) types.push(event.type);
    return { types, error: undefined };
  } catch (error) {
    return { types, error };
  }
}

const deltas = (types: string[]) => types.filter((type) => type === "content_block_delta").length;

describe("faults before the answer", () => {
  test.each([
    [400, "invalid_request_error"],
    [401, "authentication_error"],
    [413, "request_too_large"],
    [429, "rate_limit_error"],
    [500, "api_error"],
    [529, "overloaded_error"],
  ])("status %i comes as %s", async (status, type) => {
    fakeModel.enqueue({ fault: { type: "status", status, retry_after: 7, message: "scripted" } });
    const error = await client.messages.create(ask("x")).catch((reason: unknown) => reason);
    if (!(error instanceof Anthropic.APIError)) throw error;
    expect([error.status, error.type]).toEqual([status, type]);
    expect(error.headers?.get("retry-after")).toBe("7");
    expect(error.message).toContain("scripted");
  });

  test("stalled headers end when the client gives up", async () => {
    fakeModel.enqueue({ fault: { type: "stall_headers" } });
    const signal = AbortSignal.timeout(60);
    await expect(client.messages.create(ask("x"), { signal })).rejects.toThrow();
    await expect.poll(() => fakeModel.requests[0]?.aborted).toBe(true);
  });

  test("a delay comes before the headers, and is left when the client goes", async () => {
    fakeModel.enqueue({ text: "late", delayMs: 60_000 });
    const signal = AbortSignal.timeout(60);
    await expect(client.messages.create(ask("x"), { signal })).rejects.toThrow();
    await expect.poll(() => fakeModel.requests[0]?.aborted).toBe(true);
  });
});

describe("faults in mid-stream", () => {
  test("an error event after so many chunks", async () => {
    fakeModel.enqueue({ text: TEXT, fault: { type: "stream_error", after_chunks: 2 } });
    const { types, error } = await eventsUntilEnd();
    expect(deltas(types)).toBe(2);
    expect(error).toMatchObject({ type: "overloaded_error", status: undefined });
  });

  test("a cut connection after so many chunks", async () => {
    fakeModel.enqueue({ text: TEXT, fault: { type: "cut", after_chunks: 3 } });
    const { types, error } = await eventsUntilEnd();
    expect(deltas(types)).toBe(3);
    expect(String(error)).toContain("terminated");
  });

  test("a cut is an error of the body where there is no socket", async () => {
    const alone = createFakeModel();
    alone.enqueue({ text: TEXT, fault: { type: "cut" } });
    const final = clientOver(alone).messages.stream(ask("x")).finalMessage();
    await expect(final).rejects.toThrow("cut");
  });

  test("an early end that looks clean", async () => {
    fakeModel.enqueue({ text: TEXT, fault: { type: "end_early", after_chunks: 99 } });
    const { types, error } = await eventsUntilEnd();
    expect(error).toBeUndefined();
    expect(types.at(-1)).toBe("content_block_stop");
  });

  test("a stall lasts until the client goes away", async () => {
    fakeModel.enqueue({ text: TEXT, fault: { type: "stall", after_chunks: 1 } });
    const running = stream();
    let texts = 0;
    running.on("text", () => {
      texts += 1;
      setTimeout(() => running.abort(), 40);
    });
    await expect(running.finalMessage()).rejects.toThrow(Anthropic.APIUserAbortError);
    expect(texts).toBe(1);
    await expect.poll(() => fakeModel.requests[0]?.aborted).toBe(true);
  });

  test("closing the server ends a stalled stream", async () => {
    const other = await serveFakeModel(fakeModel);
    fakeModel.enqueue({ text: TEXT, fault: { type: "stall" } });
    const running = clientAt(other.url).messages.stream(ask("x"));
    running.once("text", () => other.close());
    await expect(running.finalMessage()).rejects.toThrow("terminated");
  });

  test("a whole message can be cut, ended and overloaded as well", async () => {
    fakeModel.enqueue({ text: TEXT, fault: { type: "cut" } });
    await expect(client.messages.create(ask("x"))).rejects.toThrow("terminated");
    fakeModel.enqueue({ text: TEXT, fault: { type: "end_early" } });
    await expect(client.messages.create(ask("x"))).rejects.toThrow();
    fakeModel.enqueue({ text: TEXT, fault: { type: "stream_error" } });
    await expect(client.messages.create(ask("x"))).rejects.toMatchObject({ status: 529 });
  });
});

describe("faults in the content", () => {
  test("tool JSON that does not parse", async () => {
    fakeModel.enqueue({ tools: [CALL], fault: { type: "malformed_tool_json" } });
    let json = "";
    const params = { ...ask("x"), tools: [TOOL], stream: true as const };
    for await (const event of await client.messages.create(params)) {
      if (event.type !== "content_block_delta") continue;
      if (event.delta.type === "input_json_delta") json += event.delta.partial_json;
    }
    expect(json).toContain("/a.md");
    expect(() => JSON.parse(json)).toThrow(SyntaxError);
  });

  test("the token limit in the middle of a text and of a tool's input", async () => {
    fakeModel.enqueue({ text: TEXT, fault: { type: "max_tokens", after_chunks: 2 } });
    const text = await stream().finalMessage();
    expect(text).toMatchObject({
      stop_reason: "max_tokens",
      content: [{ text: TEXT.slice(0, 16) }],
    });
    fakeModel.enqueue({ text: "First.", tools: [CALL], fault: { type: "max_tokens" } });
    const tool = await stream().finalMessage();
    expect(tool.stop_reason).toBe("max_tokens");
    const [first, second] = tool.content;
    expect(first).toMatchObject({ text: "First." });
    expect(second?.type === "tool_use" && second.input).not.toEqual(CALL.input);
  });

  test("a refusal with its details", async () => {
    fakeModel.enqueue({ fault: { type: "refusal", category: "cyber" } });
    expect(await stream().finalMessage()).toMatchObject({
      stop_reason: "refusal",
      stop_details: { type: "refusal", category: "cyber" },
    });
  });

  test("a paused turn can be sent back as it is", async () => {
    fakeModel.enqueue({ text: "Searching.", fault: { type: "pause_turn" } });
    const paused = await stream().finalMessage();
    expect(paused.stop_reason).toBe("pause_turn");
    const messages = [
      ...ask("x").messages,
      { role: "assistant" as const, content: paused.content },
    ];
    const resumed = await client.messages.create({ ...ask("x"), messages });
    expect(resumed.stop_reason).toBe("end_turn");
  });

  test.each([
    [{ type: "context_exceeded" }, "model_context_window_exceeded"],
    [{ type: "unknown_stop" }, "stand_in_unknown"],
  ] as const)("%o stops with %s", async (fault, reason) => {
    fakeModel.enqueue({ text: "x", fault });
    expect((await stream().finalMessage()).stop_reason).toBe(reason);
  });
});

describe("how the stream is cut into writes", () => {
  test.each(["bytes", 3] as const)("split %s leaves the text whole", async (split) => {
    fakeModel.enqueue({ text: "grüße 日本 👋🏽", split });
    expect(await stream().finalText()).toBe("grüße 日本 👋🏽");
  });

  test("single bytes do split a character", async () => {
    const alone = createFakeModel();
    alone.enqueue({ text: "é", split: "bytes" });
    const response = await alone.handle(
      new Request("http://fake-model/v1/messages", {
        method: "POST",
        headers: { "x-api-key": "test", "anthropic-version": "2026-10-21" },
        body: JSON.stringify({ ...ask("x"), stream: true }),
      }),
    );
    const sizes = new Set<number>();
    for await (const chunk of response.body ?? []) sizes.add(chunk.length);
    expect([...sizes]).toEqual([1]);
  });

  test("the pause between chunks is the one asked for", async () => {
    const slept: number[] = [];
    const alone = createFakeModel({
      chunkDelayMs: 5,
      sleep: async (ms) => {
        slept.push(ms);
      },
    });
    alone.enqueue({ text: "12345678abcdefgh" });
    alone.enqueue({ text: "12345678abcdefgh", chunkDelayMs: 9, delayMs: 3 });
    await clientOver(alone).messages.stream(ask("x")).finalText();
    await clientOver(alone).messages.stream(ask("x")).finalText();
    expect(slept.filter((ms) => ms > 0)).toEqual([5, 3, 9]);
  });
});
