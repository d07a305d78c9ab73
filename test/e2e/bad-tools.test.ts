// What is refused of the modes, the client's tools and the answers to calls: by the field, and with
// nothing stored.

import { expect, test } from "vitest";
import { newSession, sharedService } from "./service.ts";
import { WEATHER } from "./waiting-fixture.ts";

const service = await sharedService();
const token = await service.token();
const id = await newSession(await service.client());
const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };

const tools = (...list: unknown[]) => ({
  agent: { type: "agent_with_overrides", id: "default", tools: list },
});
const toolset = (fields: object) => tools({ type: "agent_toolset_20260401", ...fields });
const named = (name: unknown) => tools({ ...WEATHER, name });
const schema = (input_schema: unknown) => tools({ ...WEATHER, input_schema });
const many = (count: number, description = "d") =>
  Array.from({ length: count }, (_, n) => ({ ...WEATHER, name: `t${n}`, description }));

const CREATIONS: [string, object, RegExp][] = [
  ["a mode", { metadata: { permission_mode: "yolo" } }, /^metadata\.permission_mode: .*read_only/],
  ["an empty mode", { metadata: { permission_mode: "" } }, /^metadata\.permission_mode: /],
  [
    "a joining",
    { metadata: { mid_turn_messages: "drop" } },
    /^metadata\.mid_turn_messages: .*join/,
  ],
  [
    "no list",
    { agent: { type: "agent_with_overrides", id: "default", tools: {} } },
    /^agent\.tools/,
  ],
  ["an empty tool", tools({}), /^agent\.tools\.0.*type/],
  ["MCP tools", tools({ type: "mcp_toolset", mcp_server_name: "x" }), /^agent\.tools\.0.*custom/],
  ["no name", named(undefined), /^agent\.tools\.0\.name/],
  ["an empty name", named(""), /^agent\.tools\.0\.name: .*128/],
  ["a long name", named("x".repeat(129)), /^agent\.tools\.0\.name: .*128/],
  ["a name with a dot", named("a.b"), /^agent\.tools\.0\.name: .*letters/],
  ["a name with a line end", named("a\n"), /^agent\.tools\.0\.name: .*letters/],
  ["one of our names", named("Write"), /^agent\.tools\.0\.name: .*agent's own/],
  ["one of our names, small", named("grep"), /^agent\.tools\.0\.name: .*agent's own/],
  ["a name of later", named("SendMessage"), /^agent\.tools\.0\.name: .*agent's own/],
  ["a name twice", tools(WEATHER, WEATHER), /^agent\.tools\.1\.name: .*twice/],
  [
    "no description",
    tools({ ...WEATHER, description: " " }),
    /^agent\.tools\.0\.description: .*empty/,
  ],
  ["a long description", tools(...many(1, "d".repeat(10_001))), /description: .*10000/],
  ["65 tools", tools(...many(65)), /^agent\.tools: .*64/],
  ["too much of them", tools(...many(12, "d".repeat(9000))), /^agent\.tools: .*100000/],
  ["no schema", schema(undefined), /^agent\.tools\.0\.input_schema/],
  ["a list as schema", schema([]), /^agent\.tools\.0\.input_schema/],
  [
    "a schema of text",
    schema({ type: "string" }),
    /^agent\.tools\.0\.input_schema\.type: .*object/,
  ],
  ["bad properties", schema({ type: "object", properties: [] }), /input_schema\.properties: /],
  ["bad names", schema({ type: "object", required: [1] }), /input_schema\.required: /],
  ["a strange field", tools({ ...WEATHER, strict: true }), /^agent\.tools\.0.*strict/],
  [
    "the toolset twice",
    tools({ type: "agent_toolset_20260401" }, { type: "agent_toolset_20260401" }),
    /^agent\.tools\.1: .*twice/,
  ],
  [
    "single tools treated apart",
    toolset({ configs: [{ name: "write" }] }),
    /^agent\.tools\.0\.configs: /,
  ],
  ["the toolset off", toolset({ default_config: { enabled: false } }), /default_config\.enabled: /],
  [
    "an automatic policy",
    toolset({ default_config: { permission_policy: { type: "auto" } } }),
    /permission_policy\.type: .*always_ask/,
  ],
  [
    "an answer to begin with",
    { initial_events: [{ type: "user.tool_confirmation", tool_use_id: "x", result: "allow" }] },
    /^initial_events\.0\.type: /,
  ],
];

const confirmation = (fields: object) => ({
  type: "user.tool_confirmation",
  tool_use_id: "sevt_x",
  result: "allow",
  ...fields,
});
const result = (fields: object) => ({
  type: "user.custom_tool_result",
  custom_tool_use_id: "sevt_x",
  ...fields,
});
const text = { type: "text", text: "x" };

const EVENTS: [string, object, RegExp][] = [
  ["no id", confirmation({ tool_use_id: undefined }), /^events\.0\.tool_use_id/],
  ["an empty id", confirmation({ tool_use_id: "" }), /^events\.0\.tool_use_id: .*empty/],
  ["an unknown id", confirmation({}), /^events\.1\.tool_use_id: "sevt_x" is no call/],
  ["another verdict", confirmation({ result: "maybe" }), /^events\.0\.result: .*deny/],
  ["no verdict", confirmation({ result: undefined }), /^events\.0\.result: /],
  ["a reason to allow", confirmation({ deny_message: "why" }), /^events\.0\.deny_message: .*deny/],
  [
    "a long reason",
    confirmation({ result: "deny", deny_message: "x".repeat(2001) }),
    /deny_message: .*2000/,
  ],
  ["a strange field", confirmation({ always: true }), /always/],
  [
    "no id of a result",
    result({ custom_tool_use_id: undefined }),
    /^events\.0\.custom_tool_use_id/,
  ],
  ["an unknown id of a result", result({}), /^events\.1\.custom_tool_use_id: "sevt_x" is no call/],
  ["a text as content", result({ content: "x" }), /^events\.0\.content/],
  ["an image", result({ content: [{ type: "image" }] }), /^events\.0\.content\.0\.type: .*text/],
  ["101 blocks", result({ content: Array(101).fill(text) }), /^events\.0\.content: .*100/],
  ["an error that is a word", result({ is_error: "yes" }), /^events\.0\.is_error/],
  [
    "a result of ours",
    { type: "user.tool_result", tool_use_id: "x" },
    /^events\.0\.type: .*run in the service/,
  ],
  ["an outcome", { type: "user.define_outcome" }, /^events\.0\.type: .*not supported yet/],
  ["a system message", { type: "system.message" }, /^events\.0\.type: .*not supported yet/],
];

test.each(CREATIONS)("a session with %s is refused by its field", async (_name, fields, says) => {
  const before = await count();
  const body = JSON.stringify({ agent: "default", environment_id: "w", ...fields });
  await refused("/v1/sessions", body, says);
  expect(await count()).toBe(before);
});

test.each(EVENTS)(
  "an answer with %s is refused, and what came with it is not kept",
  async (_name, event, says) => {
    const message = { type: "user.message", content: [text] };
    const body = {
      events: says.source.includes("events\\.1") ? [message, event] : [event, message],
    };
    await refused(`/v1/sessions/${id}/events`, JSON.stringify(body), says);
    const response = await fetch(`${service.url}/v1/sessions/${id}/events`, { headers });
    expect(await response.json()).toMatchObject({ data: [] });
  },
);

async function refused(path: string, body: string, says: RegExp): Promise<void> {
  const response = await fetch(service.url + path, { method: "POST", headers, body });
  expect(await response.json()).toMatchObject({
    type: "error",
    error: { type: "invalid_request_error", message: expect.stringMatching(says) },
  });
  expect(response.status).toBe(400);
}

async function count(): Promise<number> {
  const response = await fetch(`${service.url}/v1/sessions?limit=100`, { headers });
  const page: unknown = await response.json();
  const data: unknown = Reflect.get(Object(page), "data");
  return Array.isArray(data) ? data.length : -1;
}
