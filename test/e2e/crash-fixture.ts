// The whole process group is killed while many sessions are each at another moment of their turn.
// Every turn ends by itself after the restart; nothing acknowledged is lost, nothing is done twice.

import type Anthropic from "@anthropic-ai/sdk";
import { expect, test } from "vitest";
import type { ModelCall } from "../../dev/fake-model/fake-model.ts";
import { type FileProcess, processOfFile } from "./process-fixture.ts";
import { answers, idOf, type SessionEvent, say, stored, typesOf, until } from "./service.ts";

let service: FileProcess;

interface Moment {
  name: string;
  /** What the watched session's stream shows up to then, in order, and how often. */
  after: readonly (readonly [type: string, times: number])[];
}

/** The moment of one session at which all of them are killed; the others are a little behind. */
export const MOMENTS: readonly Moment[] = [
  { name: "right after an acknowledgement", after: [] },
  { name: "in the middle of a first answer", after: [["event_delta", 3]] },
  { name: "between two writers of one answer", after: [["agent.tool_result", 1]] },
  {
    name: "in the middle of a final answer",
    after: [
      ["agent.tool_result", 4],
      ["event_delta", 2],
    ],
  },
];
/** Sessions beside the one that is watched, and how far apart they start, in milliseconds. */
const OTHERS = [15, 40, 80, 130, 200];

/** The tests of a file: a kill at each of these moments. */
export function killsInTurns(moments: readonly Moment[]): void {
  service = processOfFile({}, { reply: answerOf });
  for (const [n, moment] of moments.entries()) {
    test(`a kill ${moment.name} loses nothing and doubles nothing`, {
      timeout: 120_000,
    }, async () => {
      const client = service.connect();
      const runs = await Promise.all(
        [0, ...OTHERS].map((_, k) => prepare(client, `crash-${n}-${k}`)),
      );
      const [watched] = runs;
      if (!watched) throw new Error("no session");
      const stream = await client.beta.sessions.events.stream(watched.session, {
        event_deltas: ["agent.message"],
      });
      const begin = runs.map(async (run, k) => {
        await new Promise((resolve) => setTimeout(resolve, k === 0 ? 0 : OTHERS[k - 1]));
        run.sent = await client.beta.sessions.events
          .send(run.session, { events: [say("go")] })
          .then((reply) => reply.data?.[0]?.id)
          // Killed before it was acknowledged: then it may be there or not, but whole.
          .catch(() => undefined);
      });
      await begin[0];
      await see(stream, moment.after);
      const atKill = runs.map(
        (run) => service.model.requests.filter((r) => r.session === run.session).length,
      );
      await service.kill();
      await Promise.all(begin);
      await service.start();

      // No client has asked for a session yet: what was acknowledged goes on by itself.
      const owed = runs.filter((run, k) => run.sent !== undefined && (atKill[k] ?? 0) < 2);
      await until("the model is asked again", () =>
        owed.every((run) =>
          service.model.requests.some((r) => r.session === run.session && wantsFinal(r.body)),
        ),
      );
      const again = service.connect();
      for (const run of runs) {
        const events = await settled(again, run.session, run.sent !== undefined);
        if (events.length > 0) await verify(events, run);
      }
    });
  }
}

interface Run {
  workspace: string;
  session: string;
  /** Id of the acknowledged message. */
  sent: string | undefined;
}

async function prepare(client: Anthropic, workspace: string): Promise<Run> {
  await put(workspace, "log.md", "a");
  await put(workspace, "old.md", "x");
  const { id } = await client.beta.sessions.create({ agent: "default", environment_id: workspace });
  return { workspace, session: id, sent: undefined };
}

/** The events of a session when its turn has ended; none where its message never arrived. */
async function settled(client: Anthropic, id: string, mustBe: boolean): Promise<SessionEvent[]> {
  let events = await stored(client, id);
  if (events.length === 0 && !mustBe) return events;
  await until("the turn ended", async () => {
    events = await stored(client, id);
    return typesOf(events).includes("session.status_idle");
  });
  return events;
}

async function verify(events: readonly SessionEvent[], run: Run): Promise<void> {
  expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
  expect(new Set(events.map(idOf)).size).toBe(events.length);
  if (run.sent !== undefined) expect(idOf(events[0])).toBe(run.sent);
  expect(count(events, "user.message")).toBe(1);
  expect(count(events, "session.status_idle")).toBe(1);
  expect(count(events, "agent.tool_use")).toBe(4);
  expect(count(events, "agent.tool_result")).toBe(4);
  expect(answers(events)).toEqual([FIRST, FINAL]);
  const failed = events.flatMap((e) => (e.type === "agent.tool_result" && e.is_error ? [e] : []));
  expect(failed).toEqual([]);
  expect(await get(run.workspace, "log.md")).toBe("abb");
  expect(await get(run.workspace, "new.md")).toBe("fresh");
  expect(await get(run.workspace, "old.md")).toBeUndefined();
  const starts = events.flatMap((e) => (e.type === "span.model_request_start" ? [e.id] : []));
  const ends = events.flatMap((e) =>
    e.type === "span.model_request_end" ? [e.model_request_start_id] : [],
  );
  expect(ends).toEqual(starts);
}

const FIRST = "I start with the files. ".repeat(4);
const FINAL = "Everything is done, word by word. ".repeat(8);

/** By what the request holds, not by a queue: a repeated request gets the same answer. */
function answerOf(call: ModelCall) {
  if (wantsFinal(call.request)) return { text: FINAL, chunkDelayMs: 20 };
  const path = /\/workspace\/(crash-\d+-\d+)/.exec(JSON.stringify(call.request.system))?.[1];
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

function wantsFinal(request: unknown): boolean {
  const messages: unknown = Reflect.get(Object(request), "messages");
  return JSON.stringify(messages ?? "").includes('"tool_result"');
}

async function see(stream: AsyncIterable<SessionEvent>, after: Moment["after"]) {
  const coming = after.flatMap(([type, times]) => Array.from({ length: times }, () => type));
  if (coming.length === 0) return;
  for await (const event of stream) {
    if (event.type === coming[0]) coming.shift();
    if (coming.length === 0) return;
  }
}

function count(events: readonly SessionEvent[], type: string): number {
  return events.filter((event) => event.type === type).length;
}

function file(workspace: string, name: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${service.running().url}/v1/workspaces/${workspace}/files/${name}`, {
    ...init,
    headers: { authorization: `Bearer ${service.running().token()}` },
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
