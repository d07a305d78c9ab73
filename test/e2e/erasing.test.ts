// TRUTH-03: what was deleted is told to open sessions, what was redacted is in none of them any more.

import { expect, test } from "vitest";
import { autoMemory, memoryText } from "./memory-fixture.ts";
import {
  NO_BACKGROUND,
  newSession,
  sentMessages,
  serviceOfFile,
  stored,
  turn,
  until,
} from "./service.ts";

const service = await serviceOfFile({ RECALL_WAIT_MS: "5000", ...NO_BACKGROUND });
const client = await service.client();
const { memories, memoryVersions } = client.beta.memoryStores;

/** Words that nobody says in a conversation of these tests: where they are, the memory's text is. */
const SECRET = "xylophone-of-uncle-bert";
const TEXT = memoryText(
  "Vault",
  `where the vault key lies, ${SECRET}`,
  "reference",
  `In Oslo, ${SECRET}.`,
);

async function world(workspace: string) {
  const first = await newSession(client, workspace);
  const { store_id: store, directory } = await autoMemory(client, first);
  const made = await memories.create(store, { path: "/vault.md", content: TEXT });
  await memories
    .create(store, {
      path: "/MEMORY.md",
      content: `- [Vault](vault.md) - ${SECRET}\n- [Tea](tea.md) - likes tea\n`,
    })
    .catch(() => {});
  await memories.create(store, {
    path: "/tea.md",
    content: memoryText("Tea", "likes tea", "user"),
  });
  return { first, store, directory, id: made.id };
}

async function redactAll(store: string, memory: string): Promise<void> {
  for await (const version of memoryVersions.list(store, { memory_id: memory })) {
    await memoryVersions.redact(version.id, { memory_store_id: store });
  }
}

function lastRequest(session: string): string {
  const own = service.model.requests.filter(
    ({ headers, body }) =>
      headers["x-memdir-session"] === session && JSON.stringify(body).includes('"tools"'),
  );
  return JSON.stringify(own.at(-1)?.body);
}

async function shownOf(session: string): Promise<string> {
  const get = async (path: string) => {
    const response = await fetch(`${service.url}/v1/sessions/${session}/${path}`, {
      headers: { authorization: `Bearer ${await service.token()}` },
    });
    return response.text();
  };
  const events = JSON.stringify(await stored(client, session));
  return `${events} ${await get("recalls")} ${await get("extractions")} ${await get("notes")}`;
}

function script(session: string, ...steps: Parameters<typeof service.model.enqueue>[0][]): void {
  for (const step of steps) {
    service.model.enqueue({ ...step, match: { session, purpose: "main" } });
  }
}

test("a deleted memory is told with the next message, once, and to whom it was shown", async () => {
  const { first, store, id } = await world("deletion");
  const other = await newSession(client, "deletion");
  await turn(client, first, "hello there");
  await turn(client, other, "hello there");
  expect(lastRequest(first)).toContain(SECRET);
  const late = await memories.create(store, {
    path: "/late.md",
    content: memoryText("Late", "came later"),
  });
  await memories.delete(id, { memory_store_id: store });
  await memories.delete(late.id, { memory_store_id: store });
  const told = (session: string) => {
    const messages = sentMessages(service.model, session).at(-1) ?? [];
    return JSON.stringify(messages).match(/were deleted since/g)?.length ?? 0;
  };
  for (const session of [first, other]) {
    await turn(client, session, "and what now?");
    expect(told(session)).toBe(1);
    expect(lastRequest(session)).toMatch(/were deleted since.*- vault\.md/);
    expect(lastRequest(session)).not.toContain("late.md");
    await turn(client, session, "and again?");
    expect(told(session)).toBe(1);
  }
});

test("what the session's own agent deleted is no news to it", async () => {
  const { first, directory } = await world("own");
  await turn(client, first, "hello there");
  script(
    first,
    { tools: [{ name: "Delete", input: { file_path: `${directory}/vault.md` } }] },
    { text: "It is gone." },
  );
  await turn(client, first, "throw it away");
  await turn(client, first, "what else?");
  expect(lastRequest(first)).not.toContain("were deleted since");
});

test("a redacted memory is in no later request, event, row or replay of any session", async () => {
  const { first, store, directory, id } = await world("redaction");
  const twin = await memories.create(store, { path: "/twin.md", content: TEXT });
  const reader = await newSession(client, "redaction");
  const file = (name: string) => ({ file_path: `${directory}/${name}` });
  // One has it in its index and attached, the other has read it, whole, by a search and in the index.
  await turn(client, first, "where does the vault key lie?");
  expect(lastRequest(first).split(SECRET).length).toBeGreaterThan(3);
  script(
    reader,
    {
      tools: [
        { name: "Read", input: file("vault.md") },
        { name: "Read", input: file("twin.md") },
        { name: "Read", input: file("MEMORY.md") },
        { name: "Grep", input: { pattern: "xylophone", path: directory } },
      ],
    },
    { text: "I have seen it." },
  );
  await turn(client, reader, "have a look");
  const before = await shownOf(reader);
  expect(before.split(SECRET).length).toBeGreaterThan(4);

  for (const memory of [id, twin.id]) await memories.delete(memory, { memory_store_id: store });
  await redactAll(store, id);
  for (const session of [first, reader]) {
    expect(await shownOf(session)).not.toContain(SECRET);
    await turn(client, session, "what else is there?");
    expect(lastRequest(session)).toContain("what else is there?");
    expect(lastRequest(session)).not.toContain(SECRET);
    expect(lastRequest(session)).toContain("tea.md");
  }
  const numbers = (text: string) => [...text.matchAll(/"seq":(\d+)/g)].map(([, n]) => n);
  expect(numbers(await shownOf(reader)).slice(0, 10)).toEqual(numbers(before).slice(0, 10));
  for await (const version of memoryVersions.list(store, { view: "full" })) {
    if (version.path === "/MEMORY.md") continue;
    expect(JSON.stringify(version)).not.toContain(SECRET);
  }
});

test("a session that nobody opens is cleaned too, and one that is at work goes on without it", async () => {
  const { first, store, directory, id } = await world("asleep");
  await turn(client, first, "where does the vault key lie?");
  await memories.delete(id, { memory_store_id: store });
  let asked = false;
  script(
    first,
    { tools: [{ name: "Glob", input: { pattern: "*.md", path: directory } }], delayMs: 1500 },
    { text: "Here I am." },
  );
  const working = turn(client, first, "list my memories").then(() => {
    asked = true;
  });
  await until("the model is at work", () => lastRequest(first).includes("list my memories"));
  await redactAll(store, id);
  expect(asked).toBe(false);
  await working;
  expect(lastRequest(first)).toContain("list my memories");
  expect(lastRequest(first)).not.toContain(SECRET);
});
