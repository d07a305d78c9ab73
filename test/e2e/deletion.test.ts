// The end of a session: DELETE stops what is in flight and drops what is due; archive finishes both.

import { expect, test } from "vitest";
import { autoMemory, extracted, memoryText } from "./memory-fixture.ts";
import { newSession, say, serviceOfFile, turn, until } from "./service.ts";

const service = await serviceOfFile();
const client = await service.client();

const asked = (session: string, purpose: string) =>
  service.model.requests.filter(
    ({ headers }) =>
      headers["x-memdir-session"] === session && headers["x-memdir-purpose"] === purpose,
  ).length;

/** The fork's first answer is held; then it saves a memory and its line. */
function hold(session: string, directory: string, delayMs: number): void {
  const match = { session, purpose: "extraction" as const };
  const write = (name: string, content: string) => ({
    name: "Write",
    input: { file_path: `${directory}/${name}`, content },
  });
  const memory = memoryText("Cat", "the cat is called Flu", "user");
  service.model.enqueue({
    match,
    delayMs,
    tools: [write("cat.md", memory), write("MEMORY.md", "- [Cat](cat.md) - called Flu\n")],
  });
  service.model.enqueue({ match, text: "Saved." });
}

async function pathsIn(store: string): Promise<string[]> {
  const paths: string[] = [];
  for await (const { path } of client.beta.memoryStores.memories.list(store)) paths.push(path);
  return paths;
}

test("a DELETE stops the fork that runs, and who waited for it goes on", async () => {
  const session = await newSession(client, "stopped");
  const other = await newSession(client, "stopped");
  const { directory, store_id } = await autoMemory(client, session);
  hold(session, directory, 3_000);
  await turn(client, session, "My cat is called Flu, by the way.");
  await until("the fork is at work", () => asked(session, "extraction") === 1);
  await turn(client, other, "I prefer short answers.");
  const from = Date.now();
  await client.beta.sessions.delete(session);
  expect(Date.now() - from).toBeLessThan(3_000);
  await extracted(client, other);
  // Longer than its answer was held.
  await new Promise((resolve) => setTimeout(resolve, 3_500));
  expect(asked(session, "extraction")).toBe(1);
  expect((await pathsIn(store_id)).filter((path) => path.includes("cat"))).toEqual([]);
});

test("a DELETE stops the turn that runs and drops what is due, so that no memory comes of it", async () => {
  const session = await newSession(client, "dropped");
  const { store_id } = await autoMemory(client, session);
  service.model.enqueue({
    match: { session, purpose: "main" },
    delayMs: 3_000,
    text: "A nice name.",
  });
  await client.beta.sessions.events.send(session, { events: [say("I prefer short answers.")] });
  await until("the turn is at work", () => asked(session, "main") === 1);
  await client.beta.sessions.delete(session);
  await new Promise((resolve) => setTimeout(resolve, 3_500));
  expect(asked(session, "extraction")).toBe(0);
  expect(await pathsIn(store_id)).toEqual([]);
  await expect(client.beta.sessions.retrieve(session)).rejects.toThrow(/404/);
});

test("an archive waits for the fork that runs", async () => {
  const session = await newSession(client, "archived");
  const { directory, store_id } = await autoMemory(client, session);
  hold(session, directory, 1_500);
  await turn(client, session, "My cat is called Flu, by the way.");
  await client.beta.sessions.archive(session);
  expect((await pathsIn(store_id)).toSorted()).toEqual(["/MEMORY.md", "/cat.md"]);
});
