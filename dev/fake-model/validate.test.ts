import { expect, test } from "vitest";
import { createFakeModel } from "./fake-model.ts";
import { ask, MODEL, post } from "./probe.ts";

type Json = Record<string, unknown>;

const user = (content: unknown): Json => ({ role: "user", content });
const assistant = (content: unknown): Json => ({ role: "assistant", content });
const use = (id: string, input: unknown = {}) => ({ type: "tool_use", id, name: "Read", input });
const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: "ok" });
const text = (value: string, more: Json = {}) => ({ type: "text", text: value, ...more });
const talk = (...messages: Json[]): Json => ({ ...ask("x"), messages });
const withTool = (tool: Json): Json => ({ ...ask("x"), tools: [tool] });
const tool = (name: string): Json => ({ name, input_schema: { type: "object" } });
const marked = (ttl?: string) => ({
  cache_control: ttl ? { type: "ephemeral", ttl } : { type: "ephemeral" },
});
const format = (value: unknown): Json => ({ ...ask("x"), output_config: { format: value } });

const REFUSED: [rule: string, body: unknown, message: RegExp][] = [
  ["a missing model", { max_tokens: 1, messages: [user("x")] }, /^model: Field required/],
  ["missing max_tokens", { model: MODEL, messages: [user("x")] }, /^max_tokens: Field required/],
  ["missing messages", { model: MODEL, max_tokens: 1 }, /^messages: Field required/],
  ["a body that is no object", [], /valid object/],
  ["max_tokens 0 in a stream", { ...ask("x"), max_tokens: 0, stream: true }, /^max_tokens: /],
  ["max_tokens over the model's", { ...ask("x"), max_tokens: 128_001 }, /128001 > 128000/],
  ["an unknown parameter", { ...ask("x"), memory: true }, /^memory: Extra inputs/],
  ["temperature", { ...ask("x"), temperature: 0.5 }, /^temperature: is not supported/],
  ["top_p", { ...ask("x"), top_p: 0.5 }, /^top_p: is not supported/],
  ["top_k", { ...ask("x"), top_k: 5 }, /^top_k: is not supported/],
  ["threads, which it has not", { ...ask("x"), thread: {} }, /^thread: not implemented/],
  ["an unknown role", talk({ role: "tool", content: "x" }), /^messages\.0\.role: /],
  ["an extra key in a message", talk({ ...user("x"), id: "1" }), /^messages\.0\.id: Extra/],
  ["an unknown block type", talk(user([{ type: "video" }])), /^messages\.0\.content\.0\.type: /],
  ["no messages", talk(), /^messages: at least one/],
  ["an assistant first", talk(assistant("x"), user("y")), /^messages\.0: first message/],
  ["an assistant last", talk(user("x"), assistant("y")), /^messages\.1: .*prefill/],
  [
    "an empty text",
    talk(user([text("a"), text("")])),
    /^messages\.0\.content\.1\.text: .*non-empty/,
  ],
  ["a blank text", talk(user([text(" \n")])), /^messages\.0\.content\.0\.text: .*non-whitespace/],
  ["a blank string", talk(user("  ")), /^messages\.0\.text: .*non-whitespace/],
  ["an empty string", talk(user("")), /^messages\.0: .*non-empty/],
  ["an empty assistant", talk(user("x"), assistant([]), user("y")), /^messages\.1: .*non-empty/],
  ["an empty system block", { ...ask("x"), system: [text("")] }, /^system\.0\.text: /],
  [
    "a marker on an empty text",
    talk(user([text("", marked())])),
    /^messages\.0\.content\.0\.text: cache_control cannot/,
  ],
  [
    "a tool call without result",
    talk(user("x"), assistant([use("t1")]), user("y")),
    /^messages\.1: .*without `tool_result`.*t1/,
  ],
  [
    "a result after a text",
    talk(user("x"), assistant([use("t1")]), user([text("y"), result("t1")])),
    /^messages\.1: .*without `tool_result`/,
  ],
  [
    "one of two results missing",
    talk(user("x"), assistant([use("t1"), use("t2")]), user([result("t1")])),
    /t2/,
  ],
  ["a result without call", talk(user([result("t9")])), /^messages\.0\.content\.0: unexpected.*t9/],
  [
    "the same result twice",
    talk(user("x"), assistant([use("t1")]), user([result("t1"), result("t1")])),
    /^messages\.2\.content\.1: .*single result/,
  ],
  [
    "the same tool_use id twice",
    talk(
      user("x"),
      assistant([use("t1")]),
      user([result("t1")]),
      assistant([use("t1")]),
      user([result("t1")]),
    ),
    /^messages\.3\.content\.0\.id: .*unique/,
  ],
  [
    "a tool input that is no object",
    talk(user("x"), assistant([use("t1", "text")]), user([result("t1")])),
    /^messages\.1\.content\.0\.input: Input should be a valid record/,
  ],
  ["a tool_use of a user", talk(user([use("t1")])), /^messages\.0\.content\.0: .*assistant/],
  ["a bad tool name", withTool(tool("read file")), /^tools\.0\.name: /],
  ["a tool name too long", withTool(tool("r".repeat(129))), /^tools\.0\.name: /],
  ["a tool without schema", withTool({ name: "Read" }), /^tools\.0\.input_schema: Field required/],
  ["two tools of one name", { ...ask("x"), tools: [tool("a"), tool("a")] }, /^tools: .*unique/],
  ["a choice without tools", { ...ask("x"), tool_choice: { type: "auto" } }, /^tool_choice: /],
  [
    "a choice of no tool of the list",
    { ...withTool(tool("a")), tool_choice: { type: "tool", name: "b" } },
    /^tool_choice\.name: /,
  ],
  ["a lone surrogate", talk(user(`a${"\ud83d"}`)), /^messages\.0\.content: .*surrogates/],
  [
    "a lone surrogate in a tool input",
    talk(user("x"), assistant([use("t1", { a: ["\udc00"] })]), user([result("t1")])),
    /^messages\.1\.content\.0\.input\.a\.0: .*surrogates/,
  ],
  [
    "a fifth marker",
    talk(user(["a", "b", "c", "d", "e"].map((value) => text(value, marked())))),
    /maximum of 4 .*Found 5/,
  ],
  [
    "a marker of its own beside four",
    {
      ...talk(user([...["a", "b", "c", "d"].map((value) => text(value, marked())), text("e")])),
      ...marked(),
    },
    /maximum of 4 .*Found 5/,
  ],
  [
    "one hour after five minutes",
    { ...talk(user([text("b", marked("1h"))])), system: [text("a", marked("5m"))] },
    /^messages\.0\.content\.0\.cache_control\.ttl: /,
  ],
  ["an unknown lifetime", talk(user([text("a", marked("2h"))])), /cache_control\.ttl: /],
  ["a format without schema", format({ type: "json_schema" }), /^output_config\.format\.schema: /],
  ["a schema that is a text", format({ type: "json_schema", schema: "x" }), /format\.schema: /],
  [
    "a schema open to more keys",
    format({ type: "json_schema", schema: { type: "object", properties: {} } }),
    /additionalProperties/,
  ],
  [
    "a schema with a length limit",
    format({ type: "json_schema", schema: { type: "string", maxLength: 3 } }),
    /'maxLength' is not supported/,
  ],
  [
    "a thinking budget too low",
    { ...ask("x"), thinking: { type: "enabled", budget_tokens: 5 } },
    /^thinking\.budget_tokens: /,
  ],
  ["system first", talk({ role: "system", content: "a" }, user("x")), /^messages\.0: /],
  [
    "system after an assistant",
    talk(user("x"), assistant("y"), { role: "system", content: "a" }),
    /^messages\.2: .*must follow/,
  ],
  [
    "system before a user",
    talk(user("x"), { role: "system", content: "a" }, user("y")),
    /^messages\.1: .*last or be followed/,
  ],
  [
    "system on a model without it",
    { ...talk(user("x"), { role: "system", content: "a" }), model: "claude-haiku-4-5" },
    /^messages\.1: .*not supported/,
  ],
];

test.each(REFUSED)("refuses %s", async (_rule, body, message) => {
  const answer = await post(createFakeModel(), body);
  expect(answer.body.error?.message).toMatch(message);
  expect(answer.status).toBe(400);
  expect(answer.body.error?.type).toBe("invalid_request_error");
});

const TAKEN: [rule: string, body: Json][] = [
  ["consecutive messages of one role", talk(user("a"), user("b"))],
  [
    "results spread over consecutive user messages, then text",
    talk(
      user("x"),
      assistant([text("t"), use("t1")]),
      assistant([use("t2")]),
      user([result("t2")]),
      user([result("t1"), text("more")]),
    ),
  ],
  ["a system message at the end", talk(user("x"), { role: "system", content: "note" })],
  [
    "text blocks as they came back",
    talk(user("x"), assistant([text("a", { citations: null })]), user("y")),
  ],
  ["four markers", talk(user(["a", "b", "c", "d"].map((value) => text(value, marked()))))],
  [
    "one hour before five minutes",
    { ...talk(user([text("b", marked("5m"))])), system: [text("a", marked("1h"))] },
  ],
  ["server tools", withTool({ type: "web_search_20260318", name: "web_search" })],
  ["emoji", talk(user("👋🏽"))],
];

test.each(TAKEN)("takes %s", async (_rule, body) => {
  const answer = await post(createFakeModel(), body);
  expect(answer.body.error).toBeUndefined();
  expect(answer.status).toBe(200);
});

test("an unknown model is not found", async () => {
  const answer = await post(createFakeModel(), { ...ask("x"), model: "claude-2" });
  expect([answer.status, answer.body.error]).toEqual([
    404,
    { type: "not_found_error", message: "model: claude-2" },
  ]);
});

test("a prompt longer than the context is refused with both numbers", async () => {
  const fakeModel = createFakeModel({ contextTokens: 50 });
  const long = await post(fakeModel, ask("word ".repeat(60)));
  expect(long.status).toBe(400);
  expect(long.body.error?.message).toMatch(/^prompt is too long: \d\d tokens > 50 maximum$/);
  expect((await post(fakeModel, ask("short"))).status).toBe(200);
});

test("count_tokens checks the same rules", async () => {
  const path = "/v1/messages/count_tokens";
  const { max_tokens: _, ...body } = ask("x");
  expect((await post(createFakeModel(), body, { path })).status).toBe(200);
  const bad = await post(createFakeModel(), { ...body, messages: [user("")] }, { path });
  expect(bad.body.error?.message).toMatch(/^messages\.0: /);
  const extra = await post(createFakeModel(), ask("x"), { path });
  expect(extra.body.error?.message).toMatch(/^max_tokens: Extra inputs/);
});
