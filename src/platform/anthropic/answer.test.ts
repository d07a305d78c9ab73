import { describe, expect, test } from "vitest";
import type { Answer, ModelEvent, ModelFailure, Usage } from "../../shared/loop/model.ts";
import { createCallIds } from "../../shared/thread/call-ids.ts";
import { collectAnswer, partialUsage, type Received } from "./answer.ts";

// What a server sends that keeps to no rule. The rules themselves: anthropic-model.test.ts.

const start = (usage?: unknown) => ({ type: "message_start", message: { usage } });
const block = (index: unknown, content_block: object) => ({
  type: "content_block_start",
  index,
  content_block,
});
const delta = (index: unknown, delta: object) => ({ type: "content_block_delta", index, delta });
const stop = (index: unknown) => ({ type: "content_block_stop", index });
const text = (index: unknown, words: string) => [
  block(index, { type: "text", text: "" }),
  delta(index, { type: "text_delta", text: words }),
  stop(index),
];
const call = (index: unknown, id: unknown, json = "{}", name: unknown = "Read") => [
  block(index, { type: "tool_use", id, name, input: {} }),
  delta(index, { type: "input_json_delta", partial_json: json }),
  stop(index),
];
const end = (reason: string, usage?: unknown) => [
  { type: "message_delta", delta: { stop_reason: reason }, usage },
  { type: "message_stop" },
];

interface Outcome {
  events: ModelEvent[];
  outcome: Answer | ModelFailure;
  usage: Usage | undefined;
}

async function collect(events: Iterable<unknown>, bytesMost = 100_000): Promise<Outcome> {
  const received: Received = { usage: undefined, bytes: 0 };
  async function* served() {
    yield* events;
  }
  const stream = collectAnswer(served(), bytesMost, createCallIds([]), received);
  const said: ModelEvent[] = [];
  for (let next = await stream.next(); ; next = await stream.next()) {
    if (next.done) return { events: said, outcome: next.value, usage: partialUsage(received) };
    said.push(next.value);
  }
}

async function answerTo(events: Iterable<unknown>): Promise<Answer> {
  const { outcome } = await collect(events);
  if (outcome.status === "failed") throw new Error(`${outcome.kind}: ${outcome.message}`);
  return outcome;
}

async function failureTo(events: Iterable<unknown>, bytesMost?: number): Promise<string> {
  const { outcome } = await collect(events, bytesMost);
  return outcome.status === "failed" ? outcome.kind : "answered";
}

const said = (answer: Answer) =>
  answer.content.map((each) => (each.type === "text" ? each.text : each.type));

test("nothing behind message_stop is read", async () => {
  let read = 0;
  function* endless() {
    yield* [start(), ...text(0, "whole"), ...end("end_turn")];
    for (; read < 1000; read += 1) yield* [{ type: "ping" }, ...text(1, "after")];
  }
  expect(said(await answerTo(endless()))).toEqual(["whole"]);
  expect(read).toBe(0);
});

describe("ids of calls", () => {
  test("are unique in what is told and in what is kept, and agree", async () => {
    const ids = ["a", "a", "", 7, undefined, "b c", "x".repeat(65), "constructor", "__proto__"];
    const calls = ids.flatMap((id, n) => call(n, id, `{"n":${n}}`));
    const { events, outcome } = await collect([start(), ...calls, ...end("tool_use")]);
    if (outcome.status === "failed") throw new Error(outcome.message);
    const told = events.flatMap((event) => (event.type === "call" ? [event.call] : []));
    const kept = outcome.content.flatMap((each) => (each.type === "tool_use" ? [each] : []));
    expect(kept.map(({ id, input }) => [id, input])).toEqual(
      told.map(({ id, input }) => [id, input]),
    );
    expect(new Set(kept.map(({ id }) => id)).size).toBe(ids.length);
    expect(kept.every(({ id }) => /^[a-zA-Z0-9_-]{1,64}$/.test(id))).toBe(true);
    expect(kept.map(({ id }) => id)).toEqual(
      expect.arrayContaining(["a", "constructor", "__proto__"]),
    );
    expect(outcome.malformed.size).toBe(0);
  });

  test("of the prototype's names are malformed only where their input is", async () => {
    const calls = [...call(0, "constructor"), ...call(1, "__proto__", "{half")];
    const answer = await answerTo([start(), ...calls, ...end("tool_use")]);
    expect([...answer.malformed.keys()]).toEqual(["__proto__"]);
  });

  test("a name that the API refuses in a history is not kept", async () => {
    const names = ["", 7, "a b\n", "y".repeat(200), "__proto__", "Write"];
    const calls = names.flatMap((name, n) => call(n, `c${n}`, "{}", name));
    const { content } = await answerTo([start(), ...calls, ...end("tool_use")]);
    expect(content.map((each) => each.type === "tool_use" && each.name)).toEqual([
      ...Array(4).fill("unusable_name"),
      "__proto__",
      "Write",
    ]);
  });
});

test("an input with __proto__ in it stays plain data", async () => {
  const json = '{"__proto__":{"a":1},"constructor":{"__proto__":2},"x":"\\ud83c"}';
  const { content } = await answerTo([start(), ...call(0, "a", json), ...end("tool_use")]);
  const [kept] = content;
  if (kept?.type !== "tool_use") throw new Error("no call");
  expect(Object.getPrototypeOf(kept.input)).toBe(Object.prototype);
  expect(JSON.stringify(kept.input)).toBe(json.replace("\\ud83c", "\uFFFD"));
});

describe("blocks", () => {
  test.each([-1, 0.5, "0", null, undefined, 4001, 1e9, Number.NaN])(
    "with the number %j are no answer",
    async (index) => {
      expect(await failureTo([start(), ...text(index, "hi"), ...end("end_turn")])).toBe("cut");
      const lost = [start(), delta(index, { type: "text_delta", text: "hi" }), ...end("end_turn")];
      expect(await failureTo(lost)).toBe("cut");
    },
  );

  test("with gaps stand in the order in which they came, and are counted from 0", async () => {
    const { events, outcome } = await collect([
      start(),
      ...text(4000, "one"),
      ...text(7, "two"),
      ...end("end_turn"),
    ]);
    expect(outcome.status === "answered" && said(outcome)).toEqual(["one", "two"]);
    expect(events.flatMap((event) => (event.type === "text" ? [event.block] : []))).toEqual([0, 1]);
  });

  test("with the same number are two, and a late delta belongs to none", async () => {
    const late = delta(0, { type: "text_delta", text: "late" });
    const twice = [...call(0, "a", '{"n":1}'), ...call(0, "b", '{"n":2}'), late, stop(0), stop(9)];
    const { content } = await answerTo([start(), ...twice, ...end("tool_use")]);
    expect(content).toMatchObject([
      { id: "a", input: { n: 1 } },
      { id: "b", input: { n: 2 } },
    ]);
  });

  test("without a stop: a call is kept, complete where its JSON is, else as malformed", async () => {
    const open = [...call(0, "a", '{"n":1}').slice(0, 2), ...call(1, "b", '{"n":').slice(0, 2)];
    const answer = await answerTo([start(), ...open, ...call(2, "c"), ...end("tool_use")]);
    expect(answer.content).toMatchObject([
      { id: "a", input: { n: 1 } },
      { id: "b", input: {} },
      { id: "c" },
    ]);
    expect([...answer.malformed.keys()]).toEqual(["b"]);
  });

  test("more than there may be are too large", async () => {
    function* many() {
      yield start();
      for (let n = 0; n < 4001; n += 1) yield block(0, { type: "text", text: "" });
      yield* end("end_turn");
    }
    expect(await failureTo(many(), 10_000_000)).toBe("too_large");
  });

  test("without what they should have say nothing, not undefined", async () => {
    const bare = [block(0, { type: "text" }), delta(0, { type: "text_delta", text: "hi" })];
    const empty = [delta(0, { type: "text_delta" }), stop(0), block(1, { type: "thinking" })];
    const odd = [{ type: "content_block_start", index: 2 }, delta(1, { type: "thinking_delta" })];
    const none = [null, 7, "x", {}, { type: "message_delta" }];
    const events = [start(), ...bare, ...empty, ...odd, ...none, ...end("end_turn")];
    expect(said(await answerTo(events))).toEqual(["hi"]);
    expect(
      said(
        await answerTo([
          start(),
          block(0, { type: "text", text: "from the start" }),
          ...end("end_turn"),
        ]),
      ),
    ).toEqual(["from the start"]);
  });
});

describe("usage", () => {
  test.each([undefined, null, 7, "x", {}])("%j is none, and no failure", async (usage) => {
    const events = [start(usage), ...text(0, "hi"), ...end("end_turn", usage)];
    const zeros = { input: 0, cacheRead: 0, cacheCreation: 0, output: 0 };
    expect((await answerTo(events)).usage).toEqual(zeros);
    expect((await answerTo([...text(0, "hi"), ...end("end_turn")])).usage).toEqual(zeros);
  });

  test.each([
    [-5, 0],
    [1.9, 1],
    [1e308, 1_000_000_000],
    [Number.NaN, 3],
    [Number.POSITIVE_INFINITY, 3],
    ["abc", 3],
    [[1], 3],
    [null, 3],
  ])("of %j tokens after 3 is %j", async (output_tokens, expected) => {
    const events = [
      start({ output_tokens: 3 }),
      ...text(0, "x"),
      ...end("end_turn", { output_tokens }),
    ];
    expect((await answerTo(events)).usage.output).toBe(expected);
  });
});

describe("the size that is measured is the one that is stored", () => {
  test.each([
    ["control characters", "\u0001", 6],
    ["quotes", '"', 2],
    ["letters", "a", 1],
    ["wide characters", "会", 3],
  ])("%s", async (_what, unit, bytes) => {
    const fits = Math.floor((1000 - 60) / bytes);
    const all = (count: number) => [start(), ...text(0, unit.repeat(count)), ...end("end_turn")];
    expect(await failureTo(all(fits), 1000)).toBe("answered");
    expect(await failureTo(all(fits + 60), 1000)).toBe("too_large");
  });

  test("numbers that grow when they are written out", async () => {
    const json = `{"n":[${Array(100).fill("1e20").join()}]}`;
    const events = [start(), ...call(0, "a", json), ...end("tool_use")];
    expect(await failureTo(events, 1000)).toBe("too_large");
    expect(await failureTo(events, 3000)).toBe("answered");
  });

  test("the input of a call is not counted as text within JSON", async () => {
    const json = JSON.stringify({ text: '"'.repeat(400) });
    expect(await failureTo([start(), ...call(0, "a", json), ...end("tool_use")], 1000)).toBe(
      "answered",
    );
  });
});

describe("what an answer that comes to no end is counted with", () => {
  const usage = { input_tokens: 100, cache_read_input_tokens: 7, output_tokens: 1 };

  test("nothing before it began", async () => {
    expect((await collect([])).usage).toBeUndefined();
  });

  test("the input as it was told, the output by the bytes that came", async () => {
    const { outcome, usage: counted } = await collect([
      start(usage),
      ...text(0, "word ".repeat(60)),
    ]);
    expect(outcome).toMatchObject({ status: "failed", kind: "cut" });
    expect(counted).toMatchObject({ input: 100, cacheRead: 7 });
    expect(counted?.output).toBeGreaterThanOrEqual(100);
    expect(counted?.output).toBeLessThan(130);
  });

  test("the output as it was told, where that is more", async () => {
    const events = [start(usage), ...end("end_turn", { output_tokens: 900 }).slice(0, 1)];
    expect((await collect(events)).usage).toMatchObject({ input: 100, output: 900 });
  });
});
