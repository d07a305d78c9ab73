// What a person can trust of a memory: receipts, a healed index, nothing secret, nothing unseen.

import { expect, test } from "vitest";
import { autoMemory, memoryText } from "./memory-fixture.ts";
import { bucketOf, newSession, type SessionEvent, serviceOfFile, stored, turn } from "./service.ts";

interface Saved {
  by: string;
  store_id: string;
  memories: { path: string; operation: string; memory_id: string; memory_version_id: string }[];
}

const service = await serviceOfFile();
const client = await service.client();
const bucket = await bucketOf(service);

test("memory.saved carries receipts that the stores API knows, and comes after the commit", async () => {
  const id = await newSession(client, "receipts");
  await turn(client, id, "Remember that the build runs on Mondays");
  const events = await stored(client, id);
  const saved = savedOf(events);
  expect(saved.map((event) => [event.by, ...event.memories.map((m) => m.operation)])).toEqual([
    ["agent", "created"],
    ["agent", "created"],
  ]);
  for (const { store_id, memories } of saved) {
    for (const { path, memory_id, memory_version_id } of memories) {
      const memory = await client.beta.memoryStores.memories.retrieve(memory_id, {
        memory_store_id: store_id,
      });
      expect(memory.path).toBe(path);
      const version = await client.beta.memoryStores.memoryVersions.retrieve(memory_version_id, {
        memory_store_id: store_id,
      });
      expect(version.created_by).toEqual({ type: "session_actor", session_id: id });
      expect(version.content).toBe(memory.content);
    }
  }
  const session: unknown = await client.beta.sessions.retrieve(id);
  expect(session).toMatchObject({ auto_memory: { enabled: true, store_id: saved[0]?.store_id } });
  const store = await client.beta.memoryStores.retrieve(saved[0]?.store_id ?? "");
  expect(store.metadata).toEqual({ kind: "auto", project_root: "/workspace/receipts" });
});

test("a topic file without its line gets one behind the turn, and a line to nowhere goes", async () => {
  const id = await newSession(client, "healing");
  const directory = await directoryOf(id);
  script(id, [
    {
      name: "Write",
      input: {
        file_path: `${directory}/lonely.md`,
        content: memoryText("lonely", "nobody points here"),
      },
    },
    {
      name: "Write",
      input: {
        file_path: `${directory}/MEMORY.md`,
        content: "- [Gone](gone.md) - was here\nA line of prose.\n",
      },
    },
  ]);
  const events = await turn(client, id, "write");
  expect(await fileOf("healing", "MEMORY.md")).toBe(
    "- [lonely](lonely.md) - nobody points here\n\nA line of prose.\n",
  );
  expect(
    savedOf(events).flatMap((event) => event.memories.map((m) => `${m.operation} ${m.path}`)),
  ).toEqual(["created /lonely.md", "created /MEMORY.md", "modified /MEMORY.md"]);
});

test("a file that was put into R2 by somebody else is known to the next session", async () => {
  const first = await newSession(client, "outside");
  await turn(client, first, "Remember that the door code is posted in the hall");
  const prefix = await prefixOf("outside");
  await bucket.put(
    `${prefix}from-outside.md`,
    memoryText("from outside", "the lift is out of order"),
  );
  const second = await newSession(client, "outside");
  const events = await turn(client, second, "Is the lift out of order?");
  expect(JSON.stringify(events)).toContain("from-outside.md");
  expect(await fileOf("outside", "MEMORY.md")).toContain(
    "(from-outside.md) - the lift is out of order",
  );
});

test("a secret is refused with its rule and line, never its value, and nothing of it is stored", async () => {
  const id = await newSession(client, "secrets");
  const directory = await directoryOf(id);
  const secret = ["sk", "ant", "api03", `${"aB3_dE9x".repeat(11)}Zq7Kw`, "AA"].join("-");
  script(id, [
    {
      name: "Write",
      input: {
        file_path: `${directory}/key.md`,
        content: `${memoryText("key", "a key")}\n${secret}\n`,
      },
    },
    {
      name: "Write",
      input: { file_path: `${directory}/fine.md`, content: memoryText("fine", "no key") },
    },
  ]);
  const events = await turn(client, id, "save it");
  const results = events.flatMap((e) => (e.type === "agent.tool_result" ? [e] : []));
  expect(results.map((event) => event.is_error)).toEqual([true, false]);
  const told = JSON.stringify(results[0]);
  expect(told).toMatch(/line 9/);
  expect(told).not.toContain(secret.slice(14, 40));
  expect(await fileOf("secrets", "key.md")).toBeUndefined();
  expect(await fileOf("secrets", "fine.md")).toBeDefined();
});

test("a user may turn the scan of private memory to a warning; a project may not", async () => {
  const ann = await service.client({ user: "warned" });
  const token = await service.token({ user: "warned" });
  const secret = ["ghp", `${"Z9xQ7".repeat(7)}A`].join("_");
  const put = (path: string, body: object) =>
    fetch(`${service.url}${path}`, {
      method: "PUT",
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    });
  const attempt = async () => {
    const id = await newSession(ann, "warn");
    const directory = await directoryOf(id, ann);
    script(id, [{ name: "Write", input: { file_path: `${directory}/${id}.md`, content: secret } }]);
    const events = await turn(ann, id, "save it");
    return events.flatMap((e) => (e.type === "agent.tool_result" ? [e.is_error] : []));
  };
  expect(await attempt()).toEqual([true]);
  await put("/v1/workspaces/warn/files/.claude/settings.json", { privateSecretScan: "warn" });
  expect(await attempt()).toEqual([true]);
  expect((await put("/v1/settings/user", { privateSecretScan: "warn" })).status).toBe(200);
  expect(await attempt()).toEqual([false]);
});

test("two sessions that add a line at the same time keep both", async () => {
  await turn(client, await newSession(client, "pair"), "Remember that the first fact is alpha");
  const [a, b] = [await newSession(client, "pair"), await newSession(client, "pair")];
  await Promise.all([
    turn(client, a, "Remember that the second fact is beta"),
    turn(client, b, "Remember that the third fact is gamma"),
  ]);
  const index = (await fileOf("pair", "MEMORY.md")) ?? "";
  for (const word of ["alpha", "beta", "gamma"]) expect(index).toContain(word);
  expect(index.trim().split("\n")).toHaveLength(3);
});

test("EXT-10: what is saved twice is there once, and what is merely similar stays beside it", async () => {
  const say = async (text: string) => turn(client, await newSession(client, "similar"), text);
  await say("Remember that we never mock the database in integration tests");
  const before = await fileOf("similar", "MEMORY.md");
  await say("Remember that we never mock the database in integration tests");
  expect(await fileOf("similar", "MEMORY.md")).toBe(before);
  await say("Remember that mocking the database is fine in unit tests");
  const { objects } = await bucket.list({ prefix: await prefixOf("similar") });
  const files = objects.map(({ key }) => key.split("/").at(-1) ?? "");
  expect(files).toHaveLength(3);
  const texts = await Promise.all(files.map((name) => fileOf("similar", name)));
  expect(
    texts.filter((text) => text?.startsWith("---") && text.includes("never mock")),
  ).toHaveLength(1);
  expect(
    texts.filter((text) => text?.startsWith("---") && text.includes("unit tests")),
  ).toHaveLength(1);
});

test("an index over its limit is stored, and its writer is told to shorten it", async () => {
  const id = await newSession(client, "long-index");
  const directory = await directoryOf(id);
  const prose = `${"One more line of notes.\n".repeat(230)}`;
  script(id, [{ name: "Write", input: { file_path: `${directory}/MEMORY.md`, content: prose } }]);
  const events = await turn(client, id, "write");
  const [result] = events.flatMap((e) => (e.type === "agent.tool_result" ? [e] : []));
  expect(result?.is_error).toBe(false);
  expect(JSON.stringify(result)).toMatch(/230 lines.*200/);
});

test("a rewrite that drops most lines of files that are still there is refused", async () => {
  const id = await newSession(client, "gutted");
  const directory = await directoryOf(id);
  const names = Array.from({ length: 12 }, (_, n) => `fact-${n}`);
  script(
    id,
    names.map((name) => ({
      name: "Write",
      input: {
        file_path: `${directory}/${name}.md`,
        content: memoryText(name, `what ${name} says`),
      },
    })),
  );
  await turn(client, id, "write");
  const before = await fileOf("gutted", "MEMORY.md");
  script(id, [
    { name: "Read", input: { file_path: `${directory}/MEMORY.md` } },
    {
      name: "Write",
      input: {
        file_path: `${directory}/MEMORY.md`,
        content: "- [fact-0](fact-0.md) - x\n[Rest of the existing content unchanged...]\n",
      },
    },
  ]);
  const events = await turn(client, id, "tidy up");
  const results = events.flatMap((e) => (e.type === "agent.tool_result" ? [e.is_error] : []));
  expect(results).toEqual([false, true]);
  expect(await fileOf("gutted", "MEMORY.md")).toBe(before);
});

function script(session: string, tools: { name: string; input: Record<string, unknown> }[]): void {
  service.model.enqueue({ tools, match: { session, purpose: "main" } });
}

function savedOf(events: readonly SessionEvent[]): Saved[] {
  return (events as unknown as (Saved & { type: string })[]).filter(
    (e) => e.type === "memory.saved",
  );
}

async function directoryOf(id: string, by = client): Promise<string> {
  return (await autoMemory(by, id)).directory;
}

async function prefixOf(workspace: string): Promise<string> {
  const { objects } = await bucket.list({
    prefix: `t/acme/u/ann/memory/projects/workspace-${workspace}`,
  });
  const [key = ""] = objects.map((object) => object.key);
  return key.slice(0, key.indexOf("/memory/", 20) + "/memory/".length);
}

async function fileOf(workspace: string, name: string): Promise<string | undefined> {
  const object = await bucket.get(`${await prefixOf(workspace)}${name}`);
  return object?.text();
}
