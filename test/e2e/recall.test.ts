// What the agent remembers by itself: one search a turn, its choice in the conversation, and why.

import type Anthropic from "@anthropic-ai/sdk";
import { expect, test } from "vitest";
import {
  autoMemory,
  extracted,
  filesBelow,
  memoryPrefixOf,
  memoryText,
  pointersIn,
} from "./memory-fixture.ts";
import {
  answers,
  bucketOf,
  newSession,
  type SessionEvent,
  say,
  sentMessages,
  serviceOfFile,
  turn,
  until,
  untilIdle,
} from "./service.ts";

const service = await serviceOfFile({ RECALL_WAIT_MS: "5000" });
const client = await service.client();
const bucket = await bucketOf(service);
const DAY_MS = 24 * 60 * 60 * 1000;

interface Recalled {
  turn_id: string;
  offered: number;
  selected: { path: string; type: string | null; age_days: number | null; bytes: number }[];
  dropped: { path: string; reason: string }[];
  source: string;
  fallback?: string;
  timings_ms: { scan: number; select: number; read: number };
}

test("twelve turns over three sessions: what is saved, indexed and recalled, when and why", {
  timeout: 60_000,
}, async () => {
  const workspace = "story";
  const first = await newSession(client, workspace);
  await turn(client, first, "Remember that our tests must not mock the database");
  await turn(client, first, "I prefer short answers.");
  await turn(
    client,
    first,
    "Create a file src/db.ts with the text: export function openDatabase() {}",
  );
  await turn(client, first, "thanks");
  await extracted(client, first);
  const files = await filesOf(workspace);
  const [database = "", answersFile = ""] = ["mock", "short"].map(
    (word) => [...files].find(([name, text]) => name !== "MEMORY.md" && text.includes(word))?.[0],
  );
  expect([...files.keys()].sort()).toEqual(["MEMORY.md", database, answersFile].sort());
  expect(
    pointersIn(files)
      .map((line) => /\((.+?)\)/.exec(line)?.[1])
      .sort(),
  ).toEqual([database, answersFile].sort());
  await client.beta.sessions.delete(first);

  // Weeks pass: the memory comes back from a backup with the time that it was written.
  const said = new Date(Date.now() - 47 * DAY_MS - 60_000).toISOString();
  await put(
    workspace,
    database,
    (files.get(database) ?? "").replace("\ntype:", `\nmodified: ${said}\ntype:`),
  );

  const second = await newSession(client, workspace);
  const asked = await turn(client, second, "May our tests mock the database?");
  expect(answers(asked).join()).toContain("must not mock the database");
  expect(recalledIn(asked)).toMatchObject([
    { selected: [{ path: database, age_days: 47 }], source: "model" },
  ]);
  const [sent] = sentMessages(service.model, second);
  const reminder = textOf(sent?.at(-1));
  expect(reminder).toContain("47 days ago");
  expect(reminder).toMatch(/may be out of date/);
  expect(reminder).toMatch(new RegExp(`<memory path="[^"]+/${database}">`));

  const again = await turn(client, second, "So may I mock the database in tests?");
  expect(recalledIn(again)).toMatchObject([
    { selected: [], dropped: [{ path: database, reason: "already_shown" }] },
  ]);
  await turn(client, second, "thanks");
  await turn(client, second, "We deploy the database on Fridays.");
  await extracted(client, second);

  const third = await newSession(client, workspace);
  const told: Recalled[] = [];
  for (const text of [
    "When do we deploy the database?",
    "How long should answers be, short or not?",
    "What is the weather like?",
    "thanks",
  ]) {
    told.push(...recalledIn(await turn(client, third, text)));
  }
  expect(told.map(({ selected }) => selected.length > 0)).toEqual([true, true, false]);
  expect(told[0]?.selected.map(({ path }) => path)).toContain(database);
  expect(told[1]?.selected.map(({ path }) => path)).toEqual([answersFile]);
  await extracted(client, third);
  const end = await filesOf(workspace);
  expect(end.size).toBe(4);
  expect(pointersIn(end)).toHaveLength(3);
  console.log(
    `recalled: ${JSON.stringify(told.map(({ selected, dropped, source }) => ({ selected: selected.map(({ path }) => path), dropped, source })))}`,
  );
});

test("the explanation is an event and can be read later, with what was offered", async () => {
  const id = await sessionWith("explained", {
    "tea.md": memoryText("Tea", "the user drinks green tea", "user"),
    "build.md": memoryText("Build", "the build runs on Mondays", "project"),
  });
  const events = await turn(client, id, "Which green tea do I drink?");
  const [event] = recalledIn(events);
  expect(event).toMatchObject({
    offered: 2,
    selected: [{ path: "tea.md", type: "user", age_days: 0, bytes: expect.any(Number) }],
    dropped: [],
    source: "model",
    timings_ms: { scan: expect.any(Number), select: expect.any(Number), read: expect.any(Number) },
  });
  const kept: { data: Record<string, unknown>[]; next_page: null } = await client.get(
    `/v1/sessions/${id}/recalls`,
  );
  expect(kept.data).toHaveLength(1);
  expect(kept.data[0]).toMatchObject({
    turn_id: event?.turn_id,
    offered: 2,
    selected: event?.selected,
    candidates: expect.arrayContaining(["tea.md", "build.md"]),
  });
  const bob = await service.client({ user: "bob" });
  await expect(bob.get(`/v1/sessions/${id}/recalls`)).rejects.toMatchObject({ status: 404 });
  await expect
    .poll(() => client.get(`/v1/usage?session_id=${id}`), { timeout: 20_000 })
    .toMatchObject({
      data: expect.arrayContaining([expect.objectContaining({ purpose: "recall", requests: 1 })]),
    });
});

test("one search a turn, however many iterations it has, and none for one word", async () => {
  const id = await sessionWith("once", { "a.md": memoryText("A", "list of files", "reference") });
  await turn(client, id, "List files");
  expect(requestsOf(id, "recall")).toHaveLength(1);
  expect(requestsOf(id, "main").length).toBeGreaterThan(1);
  await turn(client, id, "thanks");
  await turn(client, id, "谢谢");
  expect(requestsOf(id, "recall")).toHaveLength(1);
});

test("REC-02: where the selector fails words choose, said so, one attempt a turn", async () => {
  const id = await sessionWith("degraded", {
    "tea.md": memoryText("Tea", "the user drinks green tea", "user"),
    "数据库.md": memoryText("数据库", "测试别 mock 数据库", "feedback"),
  });
  service.model.enqueue({
    fault: { type: "status", status: 400, message: "model: not found" },
    match: { session: id, purpose: "recall" },
    times: 5,
  });
  const events = await turn(client, id, "Which green tea do I drink? List files");
  expect(recalledIn(events)).toMatchObject([
    { source: "words", fallback: "rejected", selected: [{ path: "tea.md" }] },
  ]);
  const chinese = await turn(client, id, "测试可以用 mock 数据库吗？");
  expect(recalledIn(chinese)).toMatchObject([
    { source: "words", selected: [{ path: "数据库.md" }] },
  ]);
  expect(requestsOf(id, "recall")).toHaveLength(2);
  expect(events.filter((event) => event.type === "session.error")).toEqual([]);
});

test("REC-01: an answer that is no choice is none: words choose, and a name of nobody is dropped", async () => {
  const id = await sessionWith("unusable", {
    "tea.md": memoryText("Tea", "the user drinks green tea", "user"),
  });
  const answer = (text: string) =>
    service.model.enqueue({ text, match: { session: id, purpose: "recall" } });
  answer('{"selected_memories":["nope.md","../other/secret.md","MEMORY.md"]}');
  const foreign = await turn(client, id, "I want coffee now");
  expect(recalledIn(foreign)).toMatchObject([
    { source: "model", selected: [], dropped: [{ reason: "not_in_list" }, {}, {}] },
  ]);
  answer("null");
  const none = await turn(client, id, "Which green tea do I drink?");
  expect(recalledIn(none)).toMatchObject([
    { source: "words", fallback: "unreadable", selected: [{ path: "tea.md" }] },
  ]);
});

test("what the model has read or written itself is not offered", async () => {
  const id = await sessionWith("known", {
    "tea.md": memoryText("Tea", "the user drinks green tea", "user"),
  });
  await turn(client, id, `Read ${(await autoMemory(client, id)).directory}/tea.md`);
  const events = await turn(client, id, "Which green tea do I drink?");
  expect(recalledIn(events)).toMatchObject([
    { offered: 0, dropped: [{ path: "tea.md", reason: expect.stringMatching(/already_/) }] },
  ]);
});

test("TRUST-02: what a memory names and is not there any more is marked before it is read", async () => {
  const workspace = "trust";
  const body =
    "auth lives in src/auth/login.ts, call validateToken(). See also /etc/passwd, ../../x and https://x.test/a.ts";
  const id = await sessionWith(workspace, {
    "auth.md": memoryText("Auth", "where the login token is checked", "reference", body),
  });
  const gone = await recalledText(id, "Where is the login token checked?");
  expect(gone).toMatch(/Could not confirm: .*src\/auth\/login\.ts/);
  expect(gone.indexOf("Could not confirm")).toBeLessThan(gone.indexOf("<memory"));
  expect(gone).not.toMatch(/Could not confirm: .*(passwd|x\.test)/);

  await file(workspace, "src/auth/login.ts", "export function checkToken() {}\n");
  const renamed = await recalledText(
    await newSession(client, workspace),
    "Where is the login token checked?",
  );
  expect(renamed).toMatch(/Could not confirm: .*validateToken/);
  expect(renamed).not.toMatch(/Could not confirm: .*login\.ts. is not there/);

  await file(workspace, "src/auth/login.ts", "export function validateToken() {}\n");
  const there = await recalledText(
    await newSession(client, workspace),
    "Where is the login token checked?",
  );
  expect(there).not.toContain("Could not confirm");
});

test("an interrupt gives the search up with the turn", async () => {
  const id = await sessionWith("stopped", {
    "tea.md": memoryText("Tea", "the user drinks green tea", "user"),
  });
  service.model.enqueue({
    text: " ".repeat(400),
    chunkDelayMs: 400,
    match: { session: id, purpose: "recall" },
  });
  const stream = await client.beta.sessions.events.stream(id);
  await client.beta.sessions.events.send(id, { events: [say("Which green tea do I drink?")] });
  await until("the selector is asked", () => requestsOf(id, "recall").length > 0);
  await client.beta.sessions.events.send(id, { events: [{ type: "user.interrupt" }] });
  const events = await untilIdle(stream);
  expect(recalledIn(events)).toMatchObject([{ source: "none", selected: [] }]);
});

/** A session in a new workspace whose memory directory held these files before it began. */
async function sessionWith(workspace: string, files: Record<string, string>): Promise<string> {
  await newSession(client, workspace);
  for (const [name, text] of Object.entries(files)) await put(workspace, name, text);
  return newSession(client, workspace);
}

async function prefixOf(workspace: string): Promise<string> {
  return memoryPrefixOf(client, await newSession(client, workspace));
}

async function put(workspace: string, name: string, text: string): Promise<void> {
  await bucket.put(`${await prefixOf(workspace)}${name}`, text);
}

async function file(workspace: string, path: string, text: string): Promise<void> {
  const response = await fetch(`${service.url}/v1/workspaces/${workspace}/files/${path}`, {
    method: "PUT",
    headers: { authorization: `Bearer ${await service.token()}` },
    body: text,
  });
  expect(response.ok).toBe(true);
}

async function filesOf(workspace: string): Promise<Map<string, string>> {
  return filesBelow(bucket, await prefixOf(workspace));
}

function recalledIn(events: readonly SessionEvent[]): Recalled[] {
  return events.flatMap((event) =>
    (event.type as string) === "memory.recalled" ? [event as unknown as Recalled] : [],
  );
}

async function recalledText(id: string, question: string): Promise<string> {
  await turn(client, id, question);
  return textOf(sentMessages(service.model, id)[0]?.at(-1));
}

function textOf(message: Anthropic.MessageParam | undefined): string {
  if (!message) return "";
  if (typeof message.content === "string") return message.content;
  return message.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

function requestsOf(id: string, purpose: string) {
  return service.model.requests.filter(
    (request) => request.session === id && request.purpose === purpose,
  );
}
