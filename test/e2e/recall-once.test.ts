// A memory is shown once and by any name, the small model is told no more than it needs, and a message
// that states nothing costs no extraction.

import { expect, test } from "vitest";
import { outcomesOf } from "./extraction-fixture.ts";
import { autoMemory, extracted, memoryPrefixOf, memoryText } from "./memory-fixture.ts";
import {
  bucketOf,
  newSession,
  type SessionEvent,
  sentMessages,
  serviceOfFile,
  turn,
} from "./service.ts";

const service = await serviceOfFile({
  RECALL_WAIT_MS: "5000",
  NOTES_FIRST_TOKENS: "1000000000",
});
const client = await service.client();
const bucket = await bucketOf(service);
const TODAY = new Date().toISOString().slice(0, 10);

test("TRUTH-06, TRUTH-09: body, date and path are attached once, also where the memory was renamed", async () => {
  const body = "The user drinks green tea, Sencha most of all.";
  const id = await sessionWith("renamed", {
    "tea.md": memoryText("Tea", "which tea the user drinks", "user", body),
  });
  const { directory, store_id } = await autoMemory(client, id);
  await turn(client, id, "Which green tea do I drink?");
  const [first] = sentMessages(service.model, id);
  const attached = JSON.stringify(
    `Changed ${TODAY}, today:\n<memory path="${directory}/tea.md">\n${body}\n</memory>`,
  ).slice(1, -1);
  expect(JSON.stringify(first)).toContain(attached);
  expect(JSON.stringify(first)).not.toContain("description: which tea");

  const memories = await client.beta.memoryStores.memories.list(store_id);
  const tea = memories.data.find((each) => "path" in each && each.path === "/tea.md");
  if (!tea || !("id" in tea)) throw new Error("The memory is not listed");
  await client.beta.memoryStores.memories.update(tea.id, {
    memory_store_id: store_id,
    path: "/drinks.md",
  });
  const again = await turn(client, id, "So which green tea do I drink?");
  expect(recalledIn(again)).toMatchObject([
    { offered: 0, selected: [], dropped: [{ path: "drinks.md", reason: "already_shown" }] },
  ]);
  const last = sentMessages(service.model, id).at(-1);
  expect(JSON.stringify(last).split("<memory path=")).toHaveLength(2);
  // What was attached stays as it was, with the date from which its age was counted.
  expect(JSON.stringify(last)).toContain(attached);
});

test("TRUTH-06: the date of the last change is that of the user's place", async () => {
  await sessionWith("zone", { "tea.md": memoryText("Tea", "which tea the user drinks", "user") });
  // A place where the day is another one than in UTC now.
  const isLate = new Date().getUTCHours() >= 11;
  const time_zone = isLate ? "Pacific/Kiritimati" : "Pacific/Pago_Pago";
  const { id } = await client.beta.sessions.create({
    agent: "default",
    environment_id: "zone",
    metadata: { time_zone },
  });
  await turn(client, id, "Which green tea do I drink?");
  const there = new Intl.DateTimeFormat("en-CA", { timeZone: time_zone }).format(new Date());
  expect(there).not.toBe(TODAY);
  expect(JSON.stringify(sentMessages(service.model, id)[0])).toContain(`Changed ${there}, today:`);
});

test("TRUTH-09: what was read under one name is not offered under another", async () => {
  const id = await sessionWith("read", {
    "tea.md": memoryText("Tea", "which tea the user drinks", "user"),
  });
  const { directory, store_id } = await autoMemory(client, id);
  await turn(client, id, `Read ${directory}/tea.md`);
  const [tea] = (await client.beta.memoryStores.memories.list(store_id)).data.filter(
    (each) => "path" in each && each.path === "/tea.md",
  );
  if (!tea || !("id" in tea)) throw new Error("The memory is not listed");
  await client.beta.memoryStores.memories.update(tea.id, {
    memory_store_id: store_id,
    path: "/drinks.md",
  });
  const again = await turn(client, id, "So which green tea do I drink?");
  expect(recalledIn(again)).toMatchObject([{ offered: 0, dropped: [{ path: "drinks.md" }] }]);
});

test("what was attached can be edited without a Read, and not be written over", async () => {
  const body = "The user drinks <memory> green tea,\r\nSencha most of all.";
  const id = await sessionWith("edited", {
    "tea.md": memoryText("Tea", "which tea the user drinks", "user", body),
  });
  const { directory } = await autoMemory(client, id);
  const file_path = `${directory}/tea.md`;
  const call = (name: string, input: Record<string, unknown>) =>
    service.model.enqueue({
      tools: [{ name, input: { file_path, ...input } }],
      match: { session: id, purpose: "main" },
    });
  call("Write", { content: "---\nname: Tea\n---\nCoffee now, and nothing else." });
  call("Edit", { old_string: "Sencha most of all", new_string: "Gyokuro most of all" });
  const events = await turn(client, id, "I drink Gyokuro green tea now");
  expect(recalledIn(events)).toMatchObject([{ selected: [{ path: "tea.md" }] }]);
  const results = events.filter((event) => event.type === "agent.tool_result");
  expect(results.map((event) => "is_error" in event && event.is_error)).toEqual([true, false]);
  const text = await (await bucket.get(`${await memoryPrefixOf(client, id)}tea.md`))?.text();
  expect(text).toContain(`description: which tea the user drinks`);
  expect(text).toContain("Gyokuro most of all.");
});

test("the small model is told what was said before, and no secret of it", async () => {
  const id = await sessionWith("told", {
    "tea.md": memoryText("Tea", "which tea the user drinks", "user"),
  });
  const token = `ghp_${"Zk3Vq8Lm2Xw9".repeat(3)}`;
  service.model.enqueue({ text: "It is on staging-2.", match: { session: id, purpose: "main" } });
  await turn(client, id, `Where is the login with ${token}?`);
  await turn(client, id, "and the other one?");
  const asked = service.model.requests
    .filter((request) => request.session === id && request.purpose === "recall")
    .map((request) => JSON.stringify(request));
  expect(asked).toHaveLength(2);
  expect(asked.join()).not.toContain(token.slice(8));
  expect(asked[0]).toContain("Where is the login with [secret]?");
  expect(asked[0]).not.toContain("<recent>");
  expect(asked[1]).toContain(
    "<recent>\\nuser: Where is the login with [secret]?\\nassistant: It is on staging-2.\\n</recent>",
  );
  // The assistant itself is told all.
  expect(JSON.stringify(sentMessages(service.model, id))).toContain(token);
});

const TALK: [string, boolean][] = [
  ["How tall is a house?", false],
  ["I work in the data team of a hospital.", true],
  ["What is two plus two?", false],
  ["And three plus three?", false],
  ["We deploy the vault on Mondays.", true],
  ["What does a vault do?", false],
  ["How do I spell Wednesday?", false],
  ["Thanks a lot", false],
];

test("a message that states nothing asks for no extraction of its own", {
  timeout: 60_000,
}, async () => {
  const counts: Record<string, Record<string, number>> = {};
  for (const says of [false, true]) {
    // A memory that is not read in the talk: there is something to choose from at each turn.
    const id = await sessionWith(`talk-${says}`, {
      "zebra.md": memoryText("Zebra", "where the zebras live", "reference"),
    });
    for (const [text, worth] of TALK) {
      const answer = { selected_memories: [], ...(says ? { worth_keeping: worth } : {}) };
      service.model.enqueue({
        text: JSON.stringify(answer),
        match: { session: id, purpose: "recall" },
      });
      await turn(client, id, text);
      if (worth || !says) await extracted(client, id);
    }
    expect((await outcomesOf(client, id, says ? 2 : 8)).length).toBe(says ? 2 : 8);
    const name = says ? "the call says so" : "it does not say";
    counts[`${name}, 8 turns`] = requestsOf(id);
    await client.beta.sessions.archive(id);
    counts[`${name}, at the end`] = requestsOf(id);
    const files = (await bucket.list({ prefix: await memoryPrefixOf(client, id) })).objects;
    expect(files).toHaveLength(4);
  }
  console.log(`requests of a talk: ${JSON.stringify(counts)}`);
  const before = counts["it does not say, 8 turns"]?.extraction ?? 0;
  const after = counts["the call says so, 8 turns"]?.extraction ?? 0;
  expect(before - after).toBeGreaterThanOrEqual(6);
  expect(counts["it does not say, at the end"]?.extraction).toBe(before);
  expect(counts["the call says so, at the end"]?.extraction).toBe(after + 1);
});

function requestsOf(id: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { session, purpose } of service.model.requests) {
    if (session === id && purpose) counts[purpose] = (counts[purpose] ?? 0) + 1;
  }
  return counts;
}

/** A session in a new workspace whose memory directory held these files before it began. */
async function sessionWith(workspace: string, files: Record<string, string>): Promise<string> {
  const prefix = await memoryPrefixOf(client, await newSession(client, workspace));
  for (const [name, text] of Object.entries(files)) await bucket.put(`${prefix}${name}`, text);
  return newSession(client, workspace);
}

interface Recalled {
  offered: number;
  selected: { path: string }[];
  dropped: { path: string; reason: string }[];
}

function recalledIn(events: readonly SessionEvent[]): Recalled[] {
  return events.flatMap((event) =>
    (event.type as string) === "memory.recalled" ? [event as unknown as Recalled] : [],
  );
}
