import type Anthropic from "@anthropic-ai/sdk";
import { expect, test } from "vitest";
import { createFakeModel } from "./fake-model.ts";
import { clientOver, type Message, MODEL, post } from "./probe.ts";

const MINUTE = 60_000;
const LONG = "A system prompt that is long enough to be cached. ".repeat(120);

type Params = Anthropic.MessageCreateParamsNonStreaming;
type Marker = Anthropic.CacheControlEphemeral;

function start() {
  const clock = { now: 1_000_000 };
  const fakeModel = createFakeModel({ now: () => clock.now });
  const client = clientOver(fakeModel);
  const usage = async (params: Params) => {
    const { usage } = await client.messages.create(params);
    const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens } = usage;
    return {
      input: input_tokens,
      created: cache_creation_input_tokens ?? -1,
      read: cache_read_input_tokens ?? -1,
      byTtl: usage.cache_creation,
    };
  };
  return { clock, fakeModel, client, usage };
}

const mark = (text: string, ttl?: "5m" | "1h"): Anthropic.TextBlockParam => {
  const cache_control: Marker = ttl ? { type: "ephemeral", ttl } : { type: "ephemeral" };
  return { type: "text", text, cache_control };
};
const request = (messages: Message[], more: Partial<Params> = {}): Params => ({
  model: MODEL,
  max_tokens: 100,
  system: [mark(LONG)],
  messages,
  ...more,
});
const user = (content: Message["content"]): Message => ({ role: "user", content });

test("the first request writes the prefix, the second reads it", async () => {
  const { usage } = start();
  const first = await usage(request([user("one")]));
  expect(first).toMatchObject({ read: 0 });
  expect(first.created).toBeGreaterThan(1_000);
  expect(first.byTtl).toEqual({
    ephemeral_5m_input_tokens: first.created,
    ephemeral_1h_input_tokens: 0,
  });
  const second = await usage(request([user("another question")]));
  expect(second).toMatchObject({ read: first.created, created: 0 });
  expect(second.input).toBeGreaterThan(0);
});

test("the parts add up to what count_tokens says, whole or streamed", async () => {
  const { client, usage } = start();
  const params = request([user("one")]);
  const { max_tokens: _, ...counted } = params;
  const { input_tokens } = await client.messages.countTokens(counted);
  for (let round = 0; round < 2; round++) {
    const { input, created, read } = await usage(params);
    expect(input + created + read).toBe(input_tokens);
  }
  const streamed = await client.messages.stream(params).finalMessage();
  expect(streamed.usage.cache_read_input_tokens).toBeGreaterThan(1_000);
});

test("a prefix below the model's minimum is not cached", async () => {
  const { usage } = start();
  const short = request([user("one")], { system: [mark("short")] });
  await usage(short);
  expect(await usage(short)).toMatchObject({ created: 0, read: 0 });
});

test("a moving marker on the last message reads what the turn before wrote", async () => {
  const { usage } = start();
  const first = [user([mark("one")])];
  const { created } = await usage(request(first));
  const grown: Message[] = [
    user("one"),
    { role: "assistant", content: "answer" },
    user([mark("two")]),
  ];
  const second = await usage(request(grown));
  expect(second.read).toBe(created);
  expect(second.created).toBeGreaterThan(0);
});

test.each([
  [20, true],
  [21, false],
])("an entry %i blocks back is found: %s", async (distance, found) => {
  const { usage } = start();
  const head = user([mark(LONG)]);
  const bare = request([head], { system: "plain" });
  const { created } = await usage(bare);
  const blocks = Array.from({ length: distance }, (_, index) => `block ${index}`);
  const tail = blocks.map((text, index) =>
    index === distance - 1 ? mark(text) : ({ type: "text", text } as const),
  );
  const grown = [user([{ type: "text", text: LONG }, ...tail])];
  const { read } = await usage(request(grown, { system: "plain" }));
  expect(read).toBe(found ? created : 0);
});

test("an entry lives five minutes from the last request that used it", async () => {
  const { clock, usage } = start();
  const params = request([user("one")]);
  await usage(params);
  clock.now += 4 * MINUTE;
  expect((await usage(params)).read).toBeGreaterThan(0);
  clock.now += 4 * MINUTE;
  expect((await usage(params)).read).toBeGreaterThan(0);
  clock.now += 5 * MINUTE;
  expect((await usage(params)).read).toBe(0);
});

test("an hour's entry lives an hour and is counted apart", async () => {
  const { clock, usage } = start();
  const params = request([user([mark("later")])], { system: [mark(LONG, "1h")] });
  const first = await usage(params);
  expect(first.byTtl?.ephemeral_1h_input_tokens).toBeGreaterThan(1_000);
  expect(first.byTtl?.ephemeral_5m_input_tokens).toBeGreaterThan(0);
  clock.now += 59 * MINUTE;
  const second = await usage(params);
  expect(second.read).toBe(first.byTtl?.ephemeral_1h_input_tokens);
  expect(second.byTtl?.ephemeral_5m_input_tokens).toBe(first.byTtl?.ephemeral_5m_input_tokens);
});

const TOOL: Anthropic.Tool = { name: "Read", input_schema: { type: "object" } };
const base = request([user([mark(LONG)])], { tools: [TOOL] });

test.each<[string, Partial<Params>, "all" | "system" | "none"]>([
  ["nothing", {}, "all"],
  ["a moved marker", { messages: [user([{ type: "text", text: LONG }, mark("x")])] }, "all"],
  ["a string in place of one block", { messages: [user(LONG), user([mark("x")])] }, "all"],
  ["the default effort, named", { output_config: { effort: "high" } }, "all"],
  ["the messages", { messages: [user([mark(`${LONG}!`)])] }, "system"],
  ["tool_choice", { tool_choice: { type: "none" } }, "system"],
  ["thinking", { thinking: { type: "adaptive" } }, "system"],
  ["effort", { output_config: { effort: "low" } }, "system"],
  ["the system text", { system: [mark(`${LONG}!`)] }, "none"],
  ["a tool", { tools: [{ ...TOOL, description: "new" }] }, "none"],
  [
    "the order of keys in a tool",
    { tools: [{ input_schema: { type: "object" }, name: "Read" }] },
    "none",
  ],
  ["the model", { model: "claude-sonnet-5-5" }, "none"],
  ["speed", { speed: "fast" }, "none"],
])("a change of %s leaves readable: %3$s", async (_what, change, kept) => {
  const { usage } = start();
  const first = await usage(base);
  const system = (await usage(request([user("short")], { tools: [TOOL] }))).read;
  const { read } = await usage({ ...base, ...change });
  expect(read).toBe({ all: first.created, system, none: 0 }[kept]);
});

test("a fork with the same prefix reads its parent's cache, another key does not", async () => {
  const { fakeModel, usage } = start();
  const parent = request([user([mark("what the parent saw")])]);
  const { created } = await usage(parent);
  const fork = request([user([mark("what the parent saw"), mark("and the fork's task")])]);
  const other = await post(fakeModel, fork, { headers: { "x-api-key": "other" } });
  expect(other.body.usage).toMatchObject({ cache_read_input_tokens: 0 });
  expect((await usage(fork)).read).toBe(created);
});

test("parallel first calls all pay: an entry is readable from the first byte on", async () => {
  const { usage, fakeModel } = start();
  fakeModel.enqueue({ text: "slow", delayMs: 20, times: 2 });
  const params = request([user("one")]);
  const both = await Promise.all([usage(params), usage(params)]);
  expect(both.map(({ read }) => read)).toEqual([0, 0]);
  expect((await usage(params)).read).toBeGreaterThan(0);
});

test("a request that failed wrote nothing", async () => {
  const { usage, fakeModel } = start();
  fakeModel.enqueue({ fault: { type: "status", status: 529 } });
  const params = request([user("one")]);
  await expect(usage(params)).rejects.toThrow();
  expect((await usage(params)).read).toBe(0);
});

test("the marker at the top goes to the last block, and may not contradict it", async () => {
  const { fakeModel, usage } = start();
  const top = (ttl: "5m" | "1h") => ({
    ...request([user(LONG)], { system: "plain" }),
    cache_control: { type: "ephemeral" as const, ttl },
  });
  const { created, input } = await usage(top("5m"));
  expect([created > 1_000, input]).toEqual([true, 0]);
  const clash = { ...top("1h"), messages: [user([mark(LONG, "5m")])] };
  expect((await post(fakeModel, clash)).body.error?.message).toMatch(/^cache_control: /);
});
