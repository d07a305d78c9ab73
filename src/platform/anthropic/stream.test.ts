import { describe, expect, test, vi } from "vitest";
import type { Answer } from "../../shared/loop/model.ts";
import type { Message } from "../../shared/thread/messages.ts";
import {
  answered,
  ask,
  failed,
  fakeModel,
  LONG,
  request,
  SECRET,
  server,
  textOf,
  user,
  withModelServer,
} from "./model-fixture.ts";

withModelServer();

const CALL = { name: "Write", input: { key: "a", content: "some text that is to be cut" } };

describe("an answer", () => {
  test("has its text, calls, stop reason and usage, and is announced as it comes", async () => {
    const usage = { input_tokens: 11, output_tokens: 22, cache_creation_input_tokens: 33 };
    fakeModel.enqueue({
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
    expect(fakeModel.requests[0]).toMatchObject({
      purpose: "recall",
      session: "sesn_9",
      status: 200,
    });
  });

  test("is watched by one timer, however many pieces it comes in", async () => {
    const idleMs = 54_321;
    const set = vi.spyOn(globalThis, "setTimeout");
    const clear = vi.spyOn(globalThis, "clearTimeout");
    try {
      fakeModel.enqueue({ text: LONG.repeat(20), split: "events", chunkDelayMs: 1 });
      expect(textOf((await ask(request(), { idleMs })).events)).toBe(LONG.repeat(20));
      const watching = set.mock.results.filter((_, n) => set.mock.calls[n]?.[1] === idleMs);
      expect(watching).toHaveLength(1);
      expect(clear.mock.calls.map(([timer]) => timer)).toContain(watching[0]?.value);
    } finally {
      set.mockRestore();
      clear.mockRestore();
    }
  });

  const WIDE = "Grüße \u{1F30D}\u{1F468}\u200D\u{1F469} 世界 e\u0301 \u2028 ende";
  test.each(["bytes", 2, 3, 5, "events"] as const)("split by %s is whole", async (split) => {
    fakeModel.enqueue({ text: WIDE, tools: [{ name: "Write", input: { content: WIDE } }], split });
    const heard = await ask();
    expect(textOf(heard.events)).toBe(WIDE);
    expect(answered(heard).content).toMatchObject([{ text: WIDE }, { input: { content: WIDE } }]);
    expect(JSON.stringify(heard)).not.toContain("\uFFFD");
  });

  test("with a call whose JSON is broken names it and runs nothing of it", async () => {
    fakeModel.enqueue({ tools: [CALL], fault: { type: "malformed_tool_json" } });
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
      fakeModel.enqueue({ text: "A text in two", tools: [CALL], fault });
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
    fakeModel.enqueue({ text: LONG, fault: { type: "max_tokens", after_chunks: 2 } });
    const answer = answered(await ask());
    expect(answer).toMatchObject({ stopReason: "max_tokens", cutCall: false });
    expect(answer.content).toEqual([{ type: "text", text: LONG.slice(0, 16) }]);
  });

  test("with text of white space has none", async () => {
    fakeModel.enqueue({ text: " \n ", tools: [CALL] });
    expect(answered(await ask()).content).toMatchObject([{ type: "tool_use" }]);
  });

  test.each([
    ["refusal", { type: "refusal" } as const],
    ["pause_turn", { type: "pause_turn" } as const],
    ["model_context_window_exceeded", { type: "context_exceeded" } as const],
    ["stand_in_unknown", { type: "unknown_stop" } as const],
  ])("that stopped for %s says so, and holds no block that we do not know", async (stop, fault) => {
    fakeModel.enqueue({ text: "So far.", fault });
    const answer = answered(await ask());
    expect(answer.stopReason).toBe(stop);
    expect(answer.content).toEqual([{ type: "text", text: "So far." }]);
  });

  test("over its limit of bytes is a failure, and the request ends", async () => {
    fakeModel.enqueue({ text: LONG.repeat(50), chunkDelayMs: 1 });
    const heard = await ask(request(), { answerBytes: 900 });
    expect(failed(heard)).toMatchObject({
      kind: "too_large",
      message: expect.stringContaining("900"),
    });
    expect(textOf(heard.events).length).toBeLessThanOrEqual(900);
    await expect.poll(() => fakeModel.requests[0]?.aborted).toBe(true);
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
    fakeModel.enqueue({ thinking: "I think \u{1F30D} hard.", text: "Well.", tools: [CALL] });
    const heard = await ask();
    const first = answered(heard);
    expect(heard.events[0]).toEqual({ type: "thinking_start", block: 0 });
    expect(first.content[0]).toMatchObject({
      type: "thinking",
      thinking: "I think \u{1F30D} hard.",
    });
    fakeModel.enqueue({ thinking: "Again.", text: "Done." });
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
    server.handle = () => new Response(body, { headers: { "content-type": "text/event-stream" } });
    expect(answered(await ask()).content).toEqual([{ type: "text", text: "Well." }]);
  });

  test.each([
    ["a value", { content: "xx\ud83c" }],
    ["a value further in", { list: [{ content: "\udf0dxx" }] }],
    ["a key", { "xx\ud83c": "x" }],
  ])("a lone surrogate in %s of a call's input is healed", async (_where, input) => {
    fakeModel.enqueue({ tools: [{ name: "Write", input }] });
    const first = answered(await ask());
    expect(JSON.stringify(first)).not.toMatch(/\\ud[89a-f]/);
    expect((await goOn(first)).stopReason).toBe("end_turn");
  });

  test("a lone surrogate in the text is healed", async () => {
    fakeModel.enqueue({ text: "xx\ud83c", tools: [CALL] });
    const first = answered(await ask());
    expect(first.content[0]).toEqual({ type: "text", text: "xx\uFFFD" });
    expect((await goOn(first)).stopReason).toBe("end_turn");
  });

  test("a call without input, or with a name of the prototype's, is taken", async () => {
    const input: Record<string, unknown> = { constructor: "c", toString: { "xx\ud83c": ["x"] } };
    fakeModel.enqueue({
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
