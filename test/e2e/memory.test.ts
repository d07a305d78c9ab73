import { expect, test } from "vitest";
import {
  answers,
  bucketOf,
  newSession,
  type SessionEvent,
  serviceOfFile,
  turn,
} from "./service.ts";

const service = await serviceOfFile();
const client = await service.client();
const bucket = await bucketOf(service);

test("what one session is told to remember lies in R2 as files and is known to the next session", async () => {
  const first = await newSession(client, "project");
  const saved = await turn(client, first, "Remember that our tests must not mock the database");
  expect(toolErrors(saved)).toEqual([]);

  const keys = (await bucket.list({ prefix: "t/acme/u/ann/memory/projects/" })).objects.map(
    (o) => o.key,
  );
  expect(keys).toHaveLength(2);
  const index = await read(keys.find((key) => key.endsWith("/MEMORY.md")));
  const topic = await read(keys.find((key) => !key.endsWith("/MEMORY.md")));
  const file = keys
    .find((key) => !key.endsWith("/MEMORY.md"))
    ?.split("/")
    .at(-1);
  expect(index).toMatch(new RegExp(`^- \\[.+\\]\\(${file}\\) - .+\\n?$`));
  expect(topic).toMatch(
    /^---\nname: .+\ndescription: .+\ntype: (user|feedback|project|reference)\n---\n/,
  );
  expect(topic).toContain("mock the database");

  const second = await newSession(client, "project");
  const asked = await turn(client, second, "May our tests mock the database?");
  expect(answers(asked).join()).toContain("must not mock the database");

  const elsewhere = await newSession(client, "another-project");
  const unknown = await turn(client, elsewhere, "May our tests mock the database?");
  expect(answers(unknown).join()).not.toContain("must not mock the database");
  const bob = await service.client({ user: "bob" });
  const foreign = await turn(
    bob,
    await newSession(bob, "project"),
    "May our tests mock the database?",
  );
  expect(answers(foreign).join()).not.toContain("must not mock the database");
});

test("the system prompt stays the same bytes for the whole session, memory writes or not", async () => {
  const id = await newSession(client, "steady");
  await turn(client, id, "Remember that I am a nurse");
  await turn(client, id, "Remember that I like tea");
  const systems = service.model.requests
    .filter((request) => request.headers["x-memdir-session"] === id)
    .map((request) =>
      JSON.stringify([fieldOf(request.body, "system"), fieldOf(request.body, "tools")]),
    );
  expect(systems.length).toBeGreaterThan(4);
  expect(new Set(systems).size).toBe(1);
});

test("what is forgotten is gone, with its line", async () => {
  await turn(
    client,
    await newSession(client, "forgetful"),
    "Remember that the printer is called Bertha",
  );
  const id = await newSession(client, "forgetful");
  const events = await turn(client, id, "Forget that the printer is called Bertha");
  expect(toolErrors(events)).toEqual([]);
  const keys = (await bucket.list({ prefix: "t/acme/u/ann/memory/projects/workspace-forgetful" }))
    .objects;
  expect(keys.map((object) => object.key.split("/").at(-1))).toEqual(["MEMORY.md"]);
  expect(await read(keys[0]?.key)).not.toContain("Bertha");
});

test("a bare session has no memory, and its state says why", async () => {
  const session = await client.beta.sessions.create({
    agent: "default",
    environment_id: "bare",
    metadata: { bare: "true" },
  });
  expect(session).toMatchObject({ auto_memory: { enabled: false, rule: "the session is bare" } });
  await turn(client, session.id, "hello");
  const request = service.model.requests.findLast(
    (one) => one.headers["x-memdir-session"] === session.id,
  );
  expect(JSON.stringify(fieldOf(request?.body, "system"))).not.toContain("memory directory");
});

for (const path of [
  "/memory/projects/other/memory/a.md",
  "/memory/a.md",
  "/etc/claude-code/CLAUDE.md",
  "/workspace/other/a.md",
  "/workspace/fenced/../other/a.md",
  "~/.claude/settings.json",
  "/workspace/fenced-evil/a.md",
  "/workspace/fenced/.claude/settings.local.json",
  "/workspace/fenced/repo/.claude/settings.json",
]) {
  test(`a write to ${path} is refused with a reason that names where to write`, async () => {
    const id = await newSession(client, "fenced");
    service.model.enqueue({
      tools: [{ name: "Write", input: { file_path: path, content: "x" } }],
      match: { session: id, purpose: "main" },
    });
    const events = await turn(client, id, "write it");
    expect(toolErrors(events)).toEqual([
      expect.stringMatching(/refused|outside|\.\.|only people/i),
    ]);
    const all = (await bucket.list({ limit: 1000 })).objects.map((object) => object.key);
    expect(all.filter((key) => /\/a\.md|settings|CLAUDE/.test(key))).toEqual([]);
  });
}

async function read(key: string | undefined): Promise<string> {
  const object = await bucket.get(key ?? "missing");
  return object ? object.text() : "";
}

function toolErrors(events: readonly SessionEvent[]): string[] {
  return events.flatMap((event) =>
    event.type === "agent.tool_result" && event.is_error
      ? (event.content ?? []).map((block) => (block.type === "text" ? block.text : ""))
      : [],
  );
}

function fieldOf(body: unknown, name: string): unknown {
  return typeof body === "object" && body ? Reflect.get(body, name) : undefined;
}
