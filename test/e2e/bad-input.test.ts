import { expect, test } from "vitest";
import { newSession, sharedService } from "./service.ts";

const service = await sharedService();
const token = await service.token();
const id = await newSession(await service.client());

interface Refusal {
  name: string;
  method?: string;
  path: () => string;
  body?: string;
  headers?: Record<string, string>;
  status: number;
  /** What the message must name. */
  says: RegExp;
}

const SESSIONS = () => "/v1/sessions";
const EVENTS = () => `/v1/sessions/${id}/events`;
const STREAM = () => `/v1/sessions/${id}/events/stream`;
const message = (text: string) =>
  JSON.stringify({ events: [{ type: "user.message", content: [{ type: "text", text }] }] });
const create = (fields: object) =>
  JSON.stringify({ agent: "default", environment_id: "w", ...fields });
const deep = `${"[".repeat(5000)}${"]".repeat(5000)}`;
const half = "\\ud83c";

const REFUSALS: Refusal[] = [
  { name: "not JSON", path: EVENTS, body: "{nope", status: 400, says: /not valid JSON/ },
  { name: "an empty body", path: EVENTS, body: "", status: 400, says: /empty/ },
  { name: "a list as the body", path: EVENTS, body: "[]", status: 400, says: /object/ },
  { name: "no events", path: EVENTS, body: "{}", status: 400, says: /^events:/ },
  {
    name: "an empty list",
    path: EVENTS,
    body: '{"events":[]}',
    status: 400,
    says: /^events:.*empty/,
  },
  {
    name: "an unknown event type",
    path: EVENTS,
    body: '{"events":[{"type":"user.shout"}]}',
    status: 400,
    says: /^events\.0\.type: .*user\.shout/,
  },
  {
    name: "a missing type",
    path: EVENTS,
    body: '{"events":[{}]}',
    status: 400,
    says: /^events\.0\.type: .*missing/,
  },
  {
    name: "an event type that only the server sends",
    path: EVENTS,
    body: '{"events":[{"type":"agent.message","content":[]}]}',
    status: 400,
    says: /^events\.0\.type:/,
  },
  {
    name: "content of the wrong type",
    path: EVENTS,
    body: '{"events":[{"type":"user.message","content":"hi"}]}',
    status: 400,
    says: /^events\.0\.content:/,
  },
  {
    name: "empty content",
    path: EVENTS,
    body: '{"events":[{"type":"user.message","content":[]}]}',
    status: 400,
    says: /^events\.0\.content: .*empty/,
  },
  { name: "an empty text", path: EVENTS, body: message(""), status: 400, says: /content\.0\.text/ },
  {
    name: "white space",
    path: EVENTS,
    body: message("  \n"),
    status: 400,
    says: /content\.0\.text/,
  },
  {
    name: "an image",
    path: EVENTS,
    body: '{"events":[{"type":"user.message","content":[{"type":"image"}]}]}',
    status: 400,
    says: /content\.0\.type: .*text/,
  },
  {
    name: "an unknown field",
    path: EVENTS,
    body: '{"events":[{"type":"user.interrupt"}],"extra":1}',
    status: 400,
    says: /extra/,
  },
  {
    name: "a lone surrogate",
    path: EVENTS,
    body: `{"events":[{"type":"user.message","content":[{"type":"text","text":"a${half}"}]}]}`,
    status: 400,
    says: /events\.0\.content\.0\.text: .*surrogate/,
  },
  {
    name: "a lone surrogate in a key",
    path: EVENTS,
    body: `{"${half}":1}`,
    status: 400,
    says: /surrogate/,
  },
  { name: "deep nesting", path: EVENTS, body: deep, status: 400, says: /levels deep/ },
  {
    name: "bytes that are not UTF-8",
    path: EVENTS,
    body: "\u00ff\u00fe",
    headers: { "x-latin1": "1" },
    status: 400,
    says: /UTF-8/,
  },
  {
    name: "5 MB",
    path: EVENTS,
    body: message("x".repeat(5_000_000)),
    status: 413,
    says: /limit is 1000000/,
  },
  {
    name: "51 events",
    path: EVENTS,
    body: JSON.stringify({ events: Array(51).fill({ type: "user.interrupt" }) }),
    status: 400,
    says: /^events:.*50/,
  },
  {
    name: "an unknown session",
    path: () => `/v1/sessions/sesn_${"1".repeat(24)}/events`,
    body: message("hi"),
    status: 404,
    says: /no such session/,
  },
  {
    name: "something that is no session id",
    path: () => "/v1/sessions/..%2fx/events",
    body: message("hi"),
    status: 404,
    says: /no such session/,
  },
  { name: "no endpoint", path: () => "/v1/nothing", status: 404, says: /no such endpoint/ },
  {
    name: "an oversized key",
    path: EVENTS,
    body: message("hi"),
    headers: { "idempotency-key": "k".repeat(10_000) },
    status: 400,
    says: /^Idempotency-Key: 10000/,
  },
  {
    name: "an unknown agent",
    path: SESSIONS,
    body: create({ agent: "nobody" }),
    status: 400,
    says: /^agent: .*default/,
  },
  {
    name: "no workspace",
    path: SESSIONS,
    body: '{"agent":"default"}',
    status: 400,
    says: /^environment_id/,
  },
  {
    name: "a workspace with a slash",
    path: SESSIONS,
    body: create({ environment_id: "../x" }),
    status: 400,
    says: /^environment_id/,
  },
  {
    name: "metadata that is no text",
    path: SESSIONS,
    body: create({ metadata: { a: 1 } }),
    status: 400,
    says: /^metadata\.a/,
  },
  {
    name: "17 pairs of metadata",
    path: SESSIONS,
    body: create({ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [n, "x"])) }),
    status: 400,
    says: /^metadata:.*16/,
  },
  {
    name: "a relative project root",
    path: SESSIONS,
    body: create({ metadata: { project_root: "repo" } }),
    status: 400,
    says: /^metadata\.project_root/,
  },
  {
    name: "a project root that climbs",
    path: SESSIONS,
    body: create({ metadata: { project_root: "/workspace/w/../../etc" } }),
    status: 400,
    says: /^metadata\.project_root/,
  },
  {
    name: "MCP servers, which are not there yet",
    path: SESSIONS,
    body: create({ agent: { type: "agent_with_overrides", id: "default", mcp_servers: [{}] } }),
    status: 400,
    says: /^agent\.mcp_servers: .*not supported/,
  },
  {
    name: "a limit of zero",
    method: "GET",
    path: () => "/v1/sessions?limit=0",
    status: 400,
    says: /^limit/,
  },
  {
    name: "a limit over the most",
    method: "GET",
    path: () => `${EVENTS()}?limit=1001`,
    status: 400,
    says: /^limit/,
  },
  {
    name: "a limit that is no number",
    method: "GET",
    path: () => `${EVENTS()}?limit=1.5`,
    status: 400,
    says: /^limit/,
  },
  {
    name: "a page cursor of somebody's own",
    method: "GET",
    path: () => `${EVENTS()}?page=garbage`,
    status: 400,
    says: /^page/,
  },
  {
    name: "a time that is none",
    method: "GET",
    path: () => `${EVENTS()}?created_at[gt]=yesterday`,
    status: 400,
    says: /^created_at\[gt\]/,
  },
  {
    name: "an order that is none",
    method: "GET",
    path: () => `${EVENTS()}?order=up`,
    status: 400,
    says: /^order/,
  },
  {
    name: "previews of an event that has none",
    method: "GET",
    path: () => `${STREAM()}?event_deltas[]=user.message`,
    status: 400,
    says: /^event_deltas/,
  },
  ...["abc", "-1", "1e99", "999", "sevt_111111111111111111111111"].map(
    (cursor): Refusal => ({
      name: `a cursor ${cursor}`,
      method: "GET",
      path: STREAM,
      headers: { "last-event-id": cursor },
      status: 400,
      says: /Last-Event-ID/,
    }),
  ),
];

for (const refusal of REFUSALS) {
  test(`${refusal.name} is answered ${refusal.status} and named, and nothing is stored`, async () => {
    const before = await events();
    const { "x-latin1": latin1, ...headers } = refusal.headers ?? {};
    const response = await fetch(service.url + refusal.path(), {
      method: refusal.method ?? "POST",
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...(refusal.body === undefined
        ? {}
        : { body: latin1 ? Buffer.from(refusal.body, "latin1") : refusal.body }),
    });
    const body = await response.json();
    expect(body).toEqual({
      type: "error",
      error: {
        type: expect.stringMatching(/^[a-z_]+$/),
        message: expect.stringMatching(refusal.says),
      },
      request_id: expect.stringMatching(/^req_/),
    });
    expect(response.status).toBe(refusal.status);
    expect(response.headers.get("content-type")).toContain("application/json");
    expect(await events()).toEqual(before);
  });
}

async function events(): Promise<unknown> {
  const response = await fetch(service.url + EVENTS(), {
    headers: { authorization: `Bearer ${token}` },
  });
  return response.json();
}
