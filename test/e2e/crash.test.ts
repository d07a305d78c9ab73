// The whole process group is killed in the middle of a turn, at ten moments. The started turn ends
// by itself after the restart; nothing acknowledged is lost and nothing is done twice.

import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Served, serveStandIn } from "../../dev/stand-in-model/serve.ts";
import { createStandIn, type ModelCall, type StandIn } from "../../dev/stand-in-model/stand-in.ts";
import { freePort, newState, removeState, type ServiceProcess, startProcess } from "./process.ts";
import { answers, idOf, type SessionEvent, say, stored, typesOf, until } from "./service.ts";

let model: StandIn;
let server: Served;
let service: ServiceProcess;
let port: number;
const state = newState();

beforeAll(async () => {
  model = createStandIn({ reply: answerOf });
  server = await serveStandIn(model, { port: 0 });
  port = await freePort();
  service = await start();
});
afterAll(async () => {
  await service.kill();
  await server.close();
  removeState(state);
});

const MOMENTS = [
  { name: "right after the acknowledgement", at: undefined, nth: 0 },
  { name: "when the turn starts", at: "session.status_running", nth: 1 },
  { name: "when the model is called", at: "span.model_request_start", nth: 1 },
  { name: "in the middle of the first answer", at: "event_delta", nth: 3 },
  { name: "when the first tools are asked for", at: "agent.tool_use", nth: 1 },
  { name: "between two writers of one answer", at: "agent.tool_result", nth: 1 },
  { name: "after all tools of an answer", at: "agent.tool_result", nth: 3 },
  { name: "when the model is called again", at: "span.model_request_start", nth: 2 },
  { name: "in the middle of the final answer", at: "event_delta", nth: 40 },
  { name: "after the final answer", at: "agent.message", nth: 2 },
];

for (const [n, moment] of MOMENTS.entries()) {
  test(`a kill ${moment.name} loses nothing and doubles nothing`, { timeout: 60_000 }, async () => {
    const client = connect();
    const workspace = `crash-${n}`;
    await put(workspace, "log.md", "a");
    await put(workspace, "old.md", "x");
    const session = await client.beta.sessions.create({
      agent: "default",
      environment_id: workspace,
    });
    const stream = await client.beta.sessions.events.stream(session.id, {
      event_deltas: ["agent.message"],
    });
    const sent = await client.beta.sessions.events.send(session.id, { events: [say("go")] });
    if (moment.at !== undefined) await see(stream, moment.at, moment.nth);
    await service.kill();
    const before = model.requests.length;
    service = await start();

    if (moment.at !== "agent.message") {
      // No client has asked for the session yet: it goes on by itself.
      await until("the model is asked again", () =>
        model.requests.slice(before).some((r) => r.session === session.id),
      );
    }
    const again = connect();
    await until("the turn ended", async () =>
      typesOf(await stored(again, session.id)).includes("session.status_idle"),
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
    const events = await stored(again, session.id);
    expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
    expect(new Set(events.map(idOf)).size).toBe(events.length);
    expect(idOf(events[0])).toBe(sent.data?.[0]?.id);
    expect(count(events, "user.message")).toBe(1);
    expect(count(events, "session.status_idle")).toBe(1);
    expect(count(events, "agent.tool_use")).toBe(4);
    expect(count(events, "agent.tool_result")).toBe(4);
    expect(answers(events)).toEqual([FIRST, FINAL]);
    const failed = events.flatMap((e) => (e.type === "agent.tool_result" && e.is_error ? [e] : []));
    expect(failed).toEqual([]);
    expect(await get(workspace, "log.md")).toBe("abb");
    expect(await get(workspace, "new.md")).toBe("fresh");
    expect(await get(workspace, "old.md")).toBeUndefined();
    const starts = events.flatMap((e) => (e.type === "span.model_request_start" ? [e.id] : []));
    const ends = events.flatMap((e) =>
      e.type === "span.model_request_end" ? [e.model_request_start_id] : [],
    );
    expect(ends).toEqual(starts);
  });
}

const FIRST = "I start with the files. ".repeat(4);
const FINAL = "Everything is done, word by word. ".repeat(8);

/** By what the request holds, not by a queue: a repeated request gets the same answer. */
function answerOf(call: ModelCall) {
  const results = JSON.stringify(call.request.messages).includes('"tool_result"');
  if (results) return { text: FINAL, chunkDelayMs: 8 };
  const path = /\/workspace\/(crash-\d+)/.exec(JSON.stringify(call.request.system))?.[1];
  const at = (name: string) => `/workspace/${path}/${name}`;
  const append = { file_path: at("log.md"), old_string: "a", new_string: "ab" };
  return {
    text: FIRST,
    chunkDelayMs: 8,
    tools: [
      { name: "Edit", input: append },
      { name: "Edit", input: append },
      { name: "Write", input: { file_path: at("new.md"), content: "fresh" } },
      { name: "Delete", input: { file_path: at("old.md") } },
    ],
  };
}

function start(): Promise<ServiceProcess> {
  return startProcess(state, port, {
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_API_KEY: "stand-in",
  });
}

function connect(): Anthropic {
  return new Anthropic({ apiKey: service.token(), baseURL: service.url, maxRetries: 0 });
}

async function see(stream: AsyncIterable<SessionEvent>, type: string, nth: number) {
  let seen = 0;
  for await (const event of stream) {
    if (event.type === type) seen += 1;
    if (seen === nth) return;
  }
}

function count(events: readonly SessionEvent[], type: string): number {
  return events.filter((event) => event.type === type).length;
}

function file(workspace: string, name: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${service.url}/v1/workspaces/${workspace}/files/${name}`, {
    ...init,
    headers: { authorization: `Bearer ${service.token()}` },
  });
}

async function put(workspace: string, name: string, body: string): Promise<void> {
  expect((await file(workspace, name, { method: "PUT", body })).status).toBe(200);
}

async function get(workspace: string, name: string): Promise<string | undefined> {
  const response = await file(workspace, name);
  const text = await response.text();
  return response.status === 200 ? text : undefined;
}
