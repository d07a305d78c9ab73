// The whole process group is killed while extractions are each at another step. Every turn is looked
// at by itself after the restart: each fact is in memory once, each turn has one outcome.

import Anthropic from "@anthropic-ai/sdk";
import { expect, test } from "vitest";
import type { ModelCall } from "../../dev/fake-model/fake-model.ts";
import { type FileProcess, processOfFile } from "./process-fixture.ts";
import { type SessionEvent, stored, turn, until } from "./service.ts";

/** Answers that are held back: session and which of its fork's answers, and a pause to know it by. */
const held = new Map<string, number>();

let service: FileProcess;

/** Files that the fork of a writing session makes in its first answer. */
const WRITES = 8;

interface Planted {
  session: string;
  store: string;
  name: string;
  /** Names of the facts: one file, one line each. */
  facts: string[];
  /** Turns that each have one outcome. */
  turns: number;
  gone?: true;
}

/** The test of a file: everything is killed so often, and has to start again each time. */
export function killsInExtractions(kills: number): void {
  service = processOfFile({}, { reply: answerOf, sleep: sleepWhileHeld, recordLimit: 10_000 });
  test("kills at many moments of many extractions lose nothing and double nothing", {
    timeout: 120_000,
  }, async () => {
    const planted: Planted[] = [];
    for (let round = 0; round < kills; round += 1) planted.push(...(await killedRound(round)));

    // No client has asked for a session since: what is due is taken up by itself.
    await until(
      "all is saved",
      async () => {
        for (const one of planted)
          if (!one.gone && (await filesOf(one)).size < one.facts.length + 1) return false;
        return true;
      },
      60_000,
    );
    for (const one of planted) await verify(one, planted);
    // The memories are free: one turn more is extracted at once.
    const stores = new Map(planted.map((one) => [one.store, one]));
    await Promise.all([...stores.values()].map((one) => oneMore(one)));
  });
}

/** Brings sessions to their steps, kills all, and starts anew. */
async function killedRound(round: number): Promise<Planted[]> {
  const client = service.connect();
  const plant = async (kind: string, facts = 1, workspace = `${kind}-${round}`) => {
    const { id, auto_memory }: { id: string; auto_memory?: { store_id: string } } =
      await client.beta.sessions.create({ agent: "default", environment_id: workspace });
    const name = `${kind}-${round}`;
    const own = Array.from({ length: facts }, (_, n) => `${name}-${n}`);
    return { session: id, store: auto_memory?.store_id ?? "", name, facts: own, turns: 1 };
  };
  const tell = (one: Planted) => turn(client, one.session, `Save ${one.name} ${one.facts.length}.`);
  const shared = `shared-${round}`;
  const [later, thinking, early, middle, ending, first, second, deleted] = await Promise.all([
    plant("later"),
    plant("thinking"),
    plant("early", WRITES),
    plant("middle", WRITES),
    plant("ending"),
    plant("first", 1, shared),
    plant("second", 1, shared),
    plant("deleted", 2),
  ]);
  hold(thinking, 0);
  hold(early, 0);
  hold(middle, 0);
  hold(ending, 2);
  hold(first, 0);
  hold(second, 0);
  hold(deleted, 1);
  const begun = [thinking, early, middle, ending, first, second, deleted];
  // All turns end together: the local queue brings one batch at a time, and this one will hang.
  for (const one of begun) hold(one, "main");
  const turns = begun.map(tell);
  await until("all have begun", () => begun.every(({ session }) => requests(session, "main") > 0));
  for (const one of begun) release(one, "main");
  await Promise.all(turns);
  // Later rounds meet what the earlier ones left, in the same queue: they die wherever they are.
  const come = (what: string, holds: () => boolean | Promise<boolean>) =>
    round === 0 ? until(what, holds) : until(what, holds, 4_000).catch(() => {});
  await come("all are at their steps", () => {
    const lone = [thinking, early, middle].every((one) => asked(one, 0));
    const pair = asked(first, 0) !== asked(second, 0);
    return lone && pair && asked(ending, 2) && asked(deleted, 1);
  });
  const deletion = client.beta.sessions.delete(deleted.session).catch(() => undefined);
  await until("the deletion has begun", () => isGone(client, deleted));

  await tell(later);
  // The one has just begun to write when the other is half way.
  release(middle, 0);
  const half = WRITES / 2 - round;
  await come("one is half way", async () => (await filesOf(middle)).size >= half);
  release(early, 0);
  await service.kill();
  await deletion;
  held.clear();
  await service.start();
  return [later, ...begun].map((one) => (one === deleted ? { ...one, gone: true } : one));
}

async function verify(one: Planted, planted: readonly Planted[]): Promise<void> {
  const client = service.connect();
  const files = await filesOf(one);
  const facts = planted.flatMap(({ store, facts: own }) => (store === one.store ? own : []));
  const names = [...files.keys()].filter((path) => path !== "/MEMORY.md");
  if (one.gone) {
    // What it had written stays, the rest does not come; the next session heals the index.
    expect(facts.map((fact) => `/${fact}.md`)).toEqual(expect.arrayContaining(names));
    await until(`${one.name} is gone`, () => isGone(client, one));
    return;
  }
  expect(names.toSorted(), one.name).toEqual(facts.map((fact) => `/${fact}.md`).toSorted());
  const lines = (files.get("/MEMORY.md") ?? "").split("\n").filter((line) => line !== "");
  for (const fact of facts) {
    expect(
      lines.filter((line) => line.includes(`(${fact}.md)`)),
      fact,
    ).toHaveLength(1);
  }
  expect(lines, one.name).toHaveLength(facts.length);

  const versions: { path?: string | null; operation: string }[] = [];
  for await (const version of client.beta.memoryStores.memoryVersions.list(one.store)) {
    versions.push(version);
  }
  for (const fact of one.facts) {
    const own = versions.filter(({ path }) => path === `/${fact}.md`);
    expect(
      own.map(({ operation }) => operation),
      fact,
    ).toEqual(["created"]);
  }
  await until(`${one.name} has its outcome`, async () => (await outcomes(client, one)).length > 0);
  const told = await outcomes(client, one);
  expect(told, one.name).toMatchObject(Array(one.turns).fill({ type: "memory.saved" }));
  const saved = told.flatMap(({ memories = [] }) => memories.map(({ path }) => path));
  const own = one.facts.map((fact) => `/${fact}.md`);
  expect(saved.filter((path) => path !== "/MEMORY.md").toSorted(), one.name).toEqual(
    own.toSorted(),
  );
  const { data }: { data: { outcome: string; ended_at: string | null }[] } = await client.get(
    `/v1/sessions/${one.session}/extractions`,
  );
  expect(data, one.name).toHaveLength(one.turns);
  for (const run of data) expect(run, one.name).toMatchObject({ outcome: "end_turn" });
  for (const run of data) expect(run.ended_at, one.name).not.toBeNull();
}

async function oneMore(one: Planted): Promise<void> {
  const client = service.connect();
  const { id } = await client.beta.sessions.create({
    agent: "default",
    environment_id: one.store === "" ? "none" : workspaceOf(one),
  });
  const next = { ...one, session: id, name: `${one.name}-more`, facts: [`${one.name}-more-0`] };
  await turn(client, id, `Save ${next.name} 1.`);
  await until(`${next.name}`, async () => (await outcomes(client, next)).length > 0);
}

function workspaceOf({ name }: Planted): string {
  return name.replace(/^(?:first|second)-/, "shared-");
}

/** By what the request holds, not by a queue: a repeated request gets the same answer. */
function answerOf({ request, purpose, session = "" }: ModelCall) {
  const messages = JSON.stringify(request.messages);
  if (purpose === "main") return { text: "I see.", delayMs: held.get(`${session} main`) ?? 0 };
  if (purpose !== "extraction") return { text: "Nothing." };
  const directory = /Write and Edit in `([^`]+)\/`/.exec(messages)?.[1];
  const [, name = "", count = "0"] = /Save (\S+) (\d+)\./.exec(messages) ?? [];
  const task = request.messages.findLastIndex((message) =>
    JSON.stringify(message).includes("not from the user"),
  );
  const had = request.messages.slice(task).filter(({ role }) => role === "assistant").length;
  const write = (file: string, content: string) => ({
    name: "Write",
    input: { file_path: `${directory}/${file}`, content },
  });
  const own = Array.from({ length: Number(count) }, (_, n) => `${name}-${n}`);
  const files = own.map((fact) =>
    write(
      `${fact}.md`,
      `---\nname: ${fact}\ndescription: about ${fact}\ntype: user\n---\n\nYes.\n`,
    ),
  );
  const delayMs = held.get(`${session} ${had}`) ?? 0;
  if (had === 0) return { text: "Files first.", delayMs, tools: files };
  // Its own line for the first one; where an index is there already it is refused, and healed.
  const line = `- [${own[0]}](${own[0]}.md) — about it\n`;
  if (had === 1) return { text: "Now the line.", delayMs, tools: [write("MEMORY.md", line)] };
  return { text: "Done.", delayMs };
}

const HELD_MS = 1_000_000;

/** What is held is held until it is let go, or until who asked is dead. */
async function sleepWhileHeld(ms: number, signal?: AbortSignal): Promise<void> {
  const end = Date.now() + ms;
  while (Date.now() < end && (ms < HELD_MS || [...held.values()].includes(ms))) {
    signal?.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

let holds = 0;

function hold(one: Planted, answer: number | "main"): void {
  holds += 1;
  held.set(`${one.session} ${answer}`, HELD_MS + holds);
}

function release(one: Planted, answer: number | "main"): void {
  held.delete(`${one.session} ${answer}`);
}

/** Whether a fork has asked for its answer of this number. */
function asked({ session }: Planted, answer: number): boolean {
  return requests(session, "extraction") > answer;
}

function requests(session: string, purpose: string): number {
  return service.model.requests.filter((r) => r.session === session && r.purpose === purpose)
    .length;
}

async function filesOf({ store }: Planted): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  const memories = service.connect().beta.memoryStores.memories;
  for await (const memory of memories.list(store, { view: "full" })) {
    if ("content" in memory) files.set(memory.path, memory.content ?? "");
  }
  return files;
}

type Told = SessionEvent & { by?: string; memories?: { path: string }[] };

async function outcomes(client: Anthropic, { session }: Planted): Promise<Told[]> {
  return (await stored(client, session)).filter(
    (event: Told) =>
      ["memory.saved", "memory.skipped"].includes(event.type) && event.by === "extraction",
  );
}

async function isGone(client: Anthropic, { session }: Planted): Promise<boolean> {
  return client.beta.sessions.retrieve(session).then(
    () => false,
    (error: unknown) => error instanceof Anthropic.APIError && error.status === 404,
  );
}
