// The last word, on the whole service: what the user took back or somebody deleted while a background
// run was held does not come back by it.

import { expect, test } from "vitest";
import { outcomesOf, reasonOf } from "./extraction-fixture.ts";
import {
  autoMemory,
  filesBelow,
  memoryPrefixOf,
  memoryText,
  pointersIn,
} from "./memory-fixture.ts";
import { bucketOf, newSession, serviceOfFile, turn, until } from "./service.ts";

const service = await serviceOfFile(
  {},
  { sleep: (ms, signal) => (ms >= HELD_MS ? whileHeld(signal) : pause(ms)) },
);
const client = await service.client();
const bucket = await bucketOf(service);

const HELD_MS = 1_000_000;
let held = false;

test("TRUTH-01: a held run does not bring back what the next turn forgot, file and line", async () => {
  const { id, write, line } = await start("forgotten");
  await turn(client, id, "Remember that our vault is in Oslo");
  const before = await filesOf(id);
  const [file = ""] = [...before.keys()].filter((name) => name !== "MEMORY.md");
  fork(id, [write(file, "vault", "in Oslo, for sure"), line(file)]);
  await turn(client, id, "Our vault is in Oslo, for sure. What is two and two?");
  await asked(id, 1);
  const { directory } = await autoMemory(client, id);
  service.model.enqueue({
    tools: [{ name: "Delete", input: { file_path: `${directory}/${file}` } }],
    match: { session: id, purpose: "main" },
  });
  await turn(client, id, "Forget the vault");
  release();
  await outcomesOf(client, id, 3);
  const files = await filesOf(id);
  expect([...files.keys()].filter((name) => name !== "MEMORY.md")).toEqual([]);
  expect(pointersIn(files)).toEqual([]);
  expect(sentToFork(id)).toContain("Forget the vault");
});

test.each(["the API", "another session"] as const)(
  "TRUTH-01: a held run does not make again what %s deleted, and learns why",
  async (who) => {
    const workspace = who.replaceAll(" ", "-");
    const { id, write } = await start(workspace);
    await turn(client, id, "Remember that our vault is in Oslo");
    const [file = ""] = [...(await filesOf(id)).keys()].filter((name) => name !== "MEMORY.md");
    // Its first write comes before the deletion and its second after.
    fork(
      id,
      [write("tea.md", "tea", "likes tea")],
      [write(file, "vault", "in Oslo again"), write("tea.md", "tea", "again")],
    );
    await turn(client, id, "Our vault is in Oslo again. I like tea.");
    await asked(id, 2);
    if (who === "the API") {
      await deleteAll(id);
    } else {
      const other = await newSession(client, workspace);
      const { directory } = await autoMemory(client, other);
      const call = (name: string) => ({
        name: "Delete",
        input: { file_path: `${directory}/${name}` },
      });
      service.model.enqueue({
        tools: [call(file), call("tea.md")],
        match: { session: other, purpose: "main" },
      });
      await turn(client, other, "Clear the memory");
    }
    release();
    await outcomesOf(client, id, 2);
    const files = await filesOf(id);
    expect([...files.keys()].filter((name) => name !== "MEMORY.md")).toEqual([]);
    expect(pointersIn(files)).toEqual([]);
    expect(sentToFork(id)).toContain("deleted or moved by somebody else");
  },
);

test("TRUTH-01: where there is nothing to delete yet, the next run has seen the wish", async () => {
  const { id, write } = await start("nothing-yet");
  fork(id, [write("vault.md", "vault", "in Oslo")]);
  await turn(client, id, "Our vault is in Oslo.");
  await asked(id, 1);
  service.model.enqueue({ text: "There is nothing.", match: { session: id, purpose: "main" } });
  await turn(client, id, "Please do forget the vault");
  release();
  const told = await outcomesOf(client, id, 2);
  expect(told.map(reasonOf)).toEqual(["failed", "nothing_new"]);
  expect([...(await filesOf(id)).keys()]).toEqual([]);
  const requests = forkRequests(id);
  expect(requests[1]).toContain("the user said meanwhile");
  expect(requests.at(-1)).toContain("<look_from>Please do forget the vault</look_from>");
});

test("TRUTH-02: an older turn is not saved after its correction", async () => {
  const { id, write } = await start("corrected");
  fork(id, [write("release.md", "release", "on Friday")]);
  await turn(client, id, "The release is on Friday.");
  await asked(id, 1);
  const { directory } = await autoMemory(client, id);
  const content = memoryText("release", "on Tuesday");
  service.model.enqueue({
    tools: [{ name: "Write", input: { file_path: `${directory}/release.md`, content } }],
    match: { session: id, purpose: "main" },
  });
  await turn(client, id, "No, on Tuesday, remember that");
  release();
  await outcomesOf(client, id, 2);
  const files = await filesOf(id);
  expect(files.get("release.md")).toContain("on Tuesday");
  expect([...files.values()].join("\n")).not.toContain("Friday");
  expect(files.size).toBe(2);
});

test("TRUTH-11: a run that may not delete renames what has a false name", async () => {
  const { id } = await start("renamed");
  const store = (await autoMemory(client, id)).store_id;
  const old = memoryText("Airflow to Dagster", "we move to Dagster");
  const made = await client.beta.memoryStores.memories.create(store, {
    path: "/dagster.md",
    content: old,
  });
  const index = "- [Airflow to Dagster](dagster.md) - we move to Dagster\n";
  await client.beta.memoryStores.memories.create(store, { path: "/MEMORY.md", content: index });
  const { directory } = await autoMemory(client, id);
  const match = { session: id, purpose: "extraction" };
  service.model.enqueue({
    tools: [{ name: "Read", input: { file_path: `${directory}/dagster.md` } }],
    match,
  });
  const renamed = memoryText("Airflow to Prefect", "we move to Prefect").replace(
    "type:",
    "replaces: dagster.md\ntype:",
  );
  service.model.enqueue({
    tools: [{ name: "Write", input: { file_path: `${directory}/prefect.md`, content: renamed } }],
    match,
  });
  service.model.enqueue({ text: "Done.", match });
  await turn(client, id, "We dropped Dagster, it is Prefect now.");
  await outcomesOf(client, id, 1);
  const files = await filesOf(id);
  expect([...files.keys()].toSorted()).toEqual(["MEMORY.md", "prefect.md"]);
  expect(files.get("MEMORY.md")).toBe("- [Airflow to Prefect](prefect.md) - we move to Prefect\n");
  const now = await client.beta.memoryStores.memories.retrieve(made.id, { memory_store_id: store });
  expect(now).toMatchObject({ path: "/prefect.md" });
});

async function start(workspace: string) {
  const id = await newSession(client, workspace);
  const { directory } = await autoMemory(client, id);
  const write = (file: string, name: string, said: string) => ({
    name: "Write",
    input: { file_path: `${directory}/${file}`, content: memoryText(name, said) },
  });
  const line = (file: string) => ({
    name: "Write",
    input: { file_path: `${directory}/MEMORY.md`, content: `- [Vault](${file}) - in Oslo\n` },
  });
  return { id, directory, write, line };
}

type Call = { name: string; input: Record<string, unknown> };

/** The next answers of a session's fork: the last one is held until it is let go, then it has no more. */
function fork(id: string, ...answers: Call[][]): void {
  held = true;
  const match = { session: id, purpose: "extraction" };
  for (const [n, tools] of answers.entries()) {
    const delayMs = n === answers.length - 1 ? HELD_MS : 0;
    service.model.enqueue({ text: "hm", tools, delayMs, match });
  }
  service.model.enqueue({ text: "That was all.", match });
}

function release(): void {
  held = false;
}

async function asked(id: string, times: number): Promise<void> {
  await until("the fork asks", () => forkRequests(id).length >= times);
}

function forkRequests(id: string): string[] {
  return service.model.requests
    .filter(({ session, purpose }) => session === id && purpose === "extraction")
    .map(({ body }) => JSON.stringify((body as { messages: unknown[] }).messages));
}

function sentToFork(id: string): string {
  return forkRequests(id).join("\n");
}

async function deleteAll(id: string): Promise<void> {
  const { store_id } = await autoMemory(client, id);
  for await (const memory of client.beta.memoryStores.memories.list(store_id)) {
    if (!("id" in memory) || memory.path === "/MEMORY.md") continue;
    await client.beta.memoryStores.memories.delete(memory.id, { memory_store_id: store_id });
  }
}

async function filesOf(id: string): Promise<Map<string, string>> {
  return filesBelow(bucket, await memoryPrefixOf(client, id));
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}

async function whileHeld(signal?: AbortSignal): Promise<void> {
  while (held) {
    signal?.throwIfAborted();
    await pause(5);
  }
}
