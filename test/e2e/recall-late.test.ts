// By default nobody waits for a search: what it finds joins the turn at the end of an iteration, or
// not at all, and never another turn.

import type Anthropic from "@anthropic-ai/sdk";
import { expect, test } from "vitest";
import { autoMemory, memoryPrefixOf, memoryText } from "./memory-fixture.ts";
import {
  bucketOf,
  idOf,
  newSession,
  type SessionEvent,
  say,
  sentMessages,
  serviceOfFile,
  turn,
  until,
  untilIdle,
} from "./service.ts";

const service = await serviceOfFile({ RECALL_FALLBACK: "none" });
const client = await service.client();
const bucket = await bucketOf(service);

const MARK = "These memories were saved in earlier sessions";

test("what was found while a tool ran is there for the next iteration", async () => {
  const id = await sessionWithTea("joins");
  answerWithCall(id, { name: "Glob", input: { pattern: "**/*" } });
  const events = await turn(client, id, "Which green tea do I drink?");
  const [first, second] = sentMessages(service.model, id);
  expect(JSON.stringify(first)).not.toContain(MARK);
  expect(JSON.stringify(second?.at(-1))).toContain(MARK);
  expect(JSON.stringify(second).indexOf("tool_result")).toBeLessThan(
    JSON.stringify(second).indexOf(MARK),
  );
  expect(recalledIn(events)).toMatchObject([{ selected: [{ path: "tea.md" }], source: "model" }]);
});

test("a late result is given up with its turn and never used for another question", async () => {
  const id = await sessionWithTea("late");
  service.model.enqueue({
    text: `${" ".repeat(200)}{"selected_memories":["tea.md"]}`,
    chunkDelayMs: 400,
    match: { session: id, purpose: "recall" },
  });
  // Long enough for the search to be asked for, too short for its answer.
  service.model.enqueue({
    text: "I do not know that at all.",
    chunkDelayMs: 60,
    match: { session: id, purpose: "main" },
  });
  const events = await turn(client, id, "Which green tea do I drink?");
  expect(recalledIn(events)).toMatchObject([
    { selected: [], source: "none", fallback: "turn_ended" },
  ]);
  service.model.enqueue({
    text: '{"selected_memories":[]}',
    match: { session: id, purpose: "recall" },
  });
  await turn(client, id, "List files");
  for (const messages of sentMessages(service.model, id)) {
    expect(JSON.stringify(messages)).not.toContain(MARK);
  }
});

test.each(["Read", "Delete"])(
  "what the model meanwhile looks at by %s itself is not given to it again",
  async (name) => {
    const id = await sessionWithTea(`itself-${name.toLowerCase()}`);
    const { directory } = await autoMemory(client, id);
    answerWithCall(id, { name, input: { file_path: `${directory}/tea.md` } });
    const events = await turn(client, id, "Which green tea do I drink?");
    expect(recalledIn(events)).toMatchObject([
      { offered: 1, selected: [], dropped: [{ path: "tea.md", reason: "already_read" }] },
    ]);
    expect(JSON.stringify(sentMessages(service.model, id))).not.toContain(MARK);
  },
);

test("a turn that waited for its client is given what was found when it goes on", async () => {
  const id = await sessionWithTea("waits", [
    { type: "custom", name: "ask_ann", description: "asks", input_schema: { type: "object" } },
  ]);
  answerWithCall(id, { name: "ask_ann", input: {} });
  const stream = await client.beta.sessions.events.stream(id);
  await client.beta.sessions.events.send(id, { events: [say("Which green tea do I drink?")] });
  const asked = (await untilIdle(stream)).find(({ type }) => type === "agent.custom_tool_use");
  const again = await client.beta.sessions.events.stream(id);
  await client.beta.sessions.events.send(id, {
    events: [{ type: "user.custom_tool_result", custom_tool_use_id: idOf(asked), content: [] }],
  });
  const events = await untilIdle(again);
  expect(recalledIn(events)).toMatchObject([{ selected: [{ path: "tea.md" }], source: "model" }]);
  expect(JSON.stringify(sentMessages(service.model, id).at(-1))).toContain(MARK);
});

test("without the fallback a selector that fails means that nothing is recalled", async () => {
  const id = await sessionWithTea("none");
  service.model.enqueue({
    fault: { type: "status", status: 529 },
    match: { session: id, purpose: "recall" },
  });
  answerWithCall(id, { name: "Glob", input: { pattern: "**/*" } });
  const events = await turn(client, id, "Which green tea do I drink?");
  expect(recalledIn(events)).toMatchObject([
    { offered: 1, selected: [], source: "none", fallback: "overloaded" },
  ]);
});

test("messages that wait each have a search of their own", async () => {
  const id = await sessionWithTea("queued");
  service.model.enqueue({
    text: '{"selected_memories":[]}',
    match: { session: id, purpose: "recall" },
    times: 3,
  });
  await client.beta.sessions.events.send(id, {
    events: [say("List files"), say("Search for green"), say("List all files")],
  });
  await until("all are answered", async () => {
    const session = await client.beta.sessions.retrieve(id);
    return session.status === "idle";
  });
  const asked = service.model.requests.filter(
    ({ session, purpose }) => session === id && purpose === "recall",
  );
  expect(asked).toHaveLength(3);
});

/** Slow enough for a search to be over before its call has a result. */
function answerWithCall(session: string, call: { name: string; input: Record<string, unknown> }) {
  service.model.enqueue({
    text: "I look.",
    tools: [call],
    chunkDelayMs: 60,
    match: { session, purpose: "main" },
  });
}

async function sessionWithTea(workspace: string, tools?: Tool[]): Promise<string> {
  const prefix = await memoryPrefixOf(client, await newSession(client, workspace));
  await bucket.put(`${prefix}tea.md`, memoryText("Tea", "the user drinks green tea", "user"));
  if (!tools) return newSession(client, workspace);
  const agent = { type: "agent_with_overrides" as const, id: "default", tools };
  return (await client.beta.sessions.create({ agent, environment_id: workspace })).id;
}

type Tool = Anthropic.Beta.Agents.BetaManagedAgentsCustomToolParams;

function recalledIn(events: readonly SessionEvent[]) {
  return events.filter((event) => (event.type as string) === "memory.recalled");
}
