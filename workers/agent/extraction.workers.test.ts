// An extraction that dies behind any of its steps, or meets what it does not expect: a lease that has
// passed on, doubled and late calls, a store or a session that is gone, a model that never ends well.

import { env, evictDurableObject, runInDurableObject } from "cloudflare:test";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { createStandIn, type ModelCall } from "../../dev/stand-in-model/stand-in.ts";
import { newId } from "../../src/platform/ids.ts";
import { memdirStub, type Version } from "../../src/platform/memdir-rpc.ts";
import { unwrap } from "../../src/platform/reply.ts";
import type { ExtractReply } from "../../src/platform/session-rpc.ts";
import { type AgentSettings, variablesOf } from "../../src/platform/variables.ts";
import { EXTRACTION_ATTEMPTS, RESEND_MOST_MS } from "../../src/shared/limits.ts";
import { parseIndex } from "../../src/shared/memdir/index-lines.ts";
import type { LoopOutcome } from "../../src/shared/query/steps.ts";
import type { AgentEnv } from "../env.ts";
import { appendEvent } from "./events.ts";
import { dropBatch, type ExtractPorts, extract } from "./extract.ts";
import { changeExtraction, endTurnMark, readExtraction } from "./extraction-state.ts";
import { readMeta } from "./meta.ts";
import { newMeta } from "./meta-fixture.ts";
import { listRuns } from "./runs.ts";
import type { Session } from "./session.ts";
import { type SessionStub, sessionStub } from "./stubs.ts";
import { appendMessage } from "./transcript.ts";
import { addTurn, changeTurn } from "./turns.ts";

declare global {
  namespace Cloudflare {
    interface Env extends AgentEnv {}
  }
}

const owner = { tenant: "acme", user: "ann" };
const made: string[] = [];
const model = createStandIn({ reply: (call) => answerOf(call) });
const MODEL = { ANTHROPIC_API_KEY: "stand-in", ANTHROPIC_BASE_URL: "http://model.test" };
/** What the model's server does in place of an answer, for one test. */
let atModel: ((call: () => Promise<Response>) => Promise<Response>) | undefined;
/** What the fork says, by the number of answers that it has had. */
let answers: Step[];
type Step = NonNullable<ReturnType<NonNullable<Parameters<typeof createStandIn>[0]>["reply"] & {}>>;

const fetched = vi.spyOn(globalThis, "fetch").mockImplementation((input, init) => {
  const answer = () => model.handle(new Request(input as Request, init as RequestInit));
  return (atModel ? atModel(answer) : answer()) as ReturnType<typeof fetch>;
});
afterAll(() => fetched.mockRestore());
beforeEach(() => {
  model.reset();
  atModel = undefined;
  answers = savesThree();
});
afterEach(async () => {
  atModel = undefined;
  for (const id of made.splice(0)) await stub(id).destroy(0);
});

test("killed behind any of its steps, an extraction goes on and does nothing twice", {
  timeout: 120_000,
}, async () => {
  // The first one lives, and shows what its steps are.
  let steps: string[] = [];
  for (let dieAt = 0; dieAt < Math.max(steps.length, 1); dieAt += 1) {
    const id = await session();
    await inside(id, async (life) => {
      endedTurn(life.sql, "I live in Turku, drink tea and own a dog.");
      await seedIndex(life);
      const first = await life.run(dieAt === 0 ? {} : { dieAt });
      if (dieAt === 0) steps = first.steps;
      expect(first.died).toBe(dieAt > 0);
      const where = `killed behind step ${dieAt}, ${first.steps[dieAt - 1]}`;
      const reply = first.died ? (await life.run()).reply : first.reply;
      expect(reply, where).toEqual({ status: "done", next: null });
      await verifySaved(life, where);
    });
    model.reset();
  }
  expect(steps.length).toBeGreaterThan(30);
});

test("killed again and again, it still comes to its end", async () => {
  const id = await session();
  await inside(id, async (life) => {
    endedTurn(life.sql, "I live in Turku, drink tea and own a dog.");
    await seedIndex(life);
    let lives = 0;
    for (let died = true; died; lives += 1) died = (await life.run({ dieAt: 9 })).died;
    expect(lives).toBeGreaterThan(3);
    await verifySaved(life, `${lives} lives`);
  });
});

test("a run whose lease has passed on writes nothing more, and goes on under a new one", async () => {
  const id = await session();
  await inside(id, async (life) => {
    endedTurn(life.sql, "I live in Turku, drink tea and own a dog.");
    await seedIndex(life);
    let other = 0;
    atModel = async (answer) => {
      const response = await answer();
      // As where its signs of life did not come through in time.
      const own = readExtraction(life.sql).lease ?? 0;
      unwrap(await life.memory().release("extraction", own));
      const reply = unwrap(await life.memory().acquire("extraction", "somebody", 60_000));
      other = reply.status === "granted" ? reply.token : 0;
      return response;
    };
    const { reply } = await life.run({ settings: { LEASE_MS: 30 } });
    atModel = undefined;
    expect(other).toBeGreaterThan(0);
    expect(reply).toMatchObject({ status: "retry" });
    expect(ownOf(await versionsOf(life))).toEqual([]);
    expect(readExtraction(life.sql).cursor).toBe(0);
    expect((await life.run()).reply).toEqual({ status: "waiting" });
    // The stale run's own return of its lease has not touched the new one; its end names who waits.
    expect(unwrap(await life.memory().release("extraction", other))).toBe(id);
    expect((await life.run()).reply).toEqual({ status: "done", next: null });
    await verifySaved(life, "after a lost lease");
  });
});

test("a run keeps its lease while the model says nothing for longer than that", async () => {
  const id = await session();
  await inside(id, async (life) => {
    endedTurn(life.sql, "I live in Turku, drink tea and own a dog.");
    await seedIndex(life);
    atModel = async (answer) => {
      await pause(200);
      return answer();
    };
    expect((await life.run({ settings: { LEASE_MS: 60 } })).reply.status).toBe("done");
    atModel = undefined;
    await verifySaved(life, "under a short lease");
  });
});

test("calls that are doubled, late or about another store are no-ops", async () => {
  const id = await session();
  const store = await inside(id, (life) => {
    endedTurn(life.sql, "I live in Turku.");
    return life.store;
  });
  await withModel(id);
  const replies = await Promise.all([
    stub(id).extract({ store, upTo: 1 }),
    stub(id).extract({ store, upTo: 1 }),
    stub(id).extract({ store }),
  ]);
  expect(replies.map(({ status }) => status).toSorted()).toEqual(["done", "waiting", "waiting"]);
  for (const message of [{ store, upTo: 1 }, { store, upTo: 0 }, { store }, { store: "other" }]) {
    expect(await stub(id).extract(message)).toEqual({ status: "none" });
  }
  await inside(id, (life) => {
    expect(outcomesOf(life.sql)).toHaveLength(1);
    expect(listRuns(life.sql, "extraction", { limit: 10 })).toHaveLength(1);
  });
});

test("a backlog is worked off oldest first, at most forty messages at a time and whole turns", async () => {
  const id = await session();
  answers = [{ text: "Nothing new." }];
  await inside(id, async (life) => {
    for (let n = 0; n < 45; n += 1) endedTurn(life.sql, `What is ${n} and ${n}?`);
    const cursors: number[] = [];
    for (let reply: ExtractReply = { status: "done", next: null }; reply.status === "done"; ) {
      ({ reply } = await life.run());
      cursors.push(readExtraction(life.sql).cursor);
    }
    expect(cursors).toEqual([20, 40, 45, 45]);
    const tasks = model.requests.map(
      (request) => /last (\d+) messages/.exec(JSON.stringify(request.body))?.[1],
    );
    expect(tasks).toEqual(["40", "40", "10"]);
  });
});

test("a batch that never ends well is dropped, and only it: later turns are extracted", async () => {
  const id = await session();
  answers = [{ text: "hm", fault: { type: "unknown_stop" } }];
  await inside(id, async (life) => {
    endedTurn(life.sql, "Something that no fork can look at.");
    const replies: ExtractReply["status"][] = [];
    for (let n = 1; n <= EXTRACTION_ATTEMPTS; n += 1) {
      replies.push((await life.run()).reply.status);
      // The conversation goes on meanwhile.
      if (n < EXTRACTION_ATTEMPTS) endedTurn(life.sql, `I live in Turku${n}.`);
    }
    expect(replies).toEqual([...Array(EXTRACTION_ATTEMPTS - 1).fill("retry"), "done"]);
    expect(readExtraction(life.sql)).toMatchObject({ cursor: 1, failures: 0, lease: null });
    expect(outcomesOf(life.sql)).toMatchObject([{ type: "memory.skipped", reason: "failed" }]);
    answers = savesThree();
    expect((await life.run()).reply.status).toBe("done");
    expect(readExtraction(life.sql)).toMatchObject({ cursor: EXTRACTION_ATTEMPTS, resendAt: null });
    expect(outcomesOf(life.sql).map(({ type }) => type)).toEqual([
      "memory.skipped",
      "memory.saved",
    ]);
    await life.expectFree();
  });
});

test("an outage of the model drops nothing, however long, and is asked about less and less often", {
  timeout: 20_000,
}, async () => {
  const id = await session();
  answers = [{ fault: { type: "status", status: 529 } }];
  await inside(id, async (life) => {
    endedTurn(life.sql, "I live in Turku, drink tea and own a dog.");
    await seedIndex(life);
    const pauses: number[] = [];
    for (let n = 0; n < EXTRACTION_ATTEMPTS + 2; n += 1) {
      const { reply } = await life.run();
      expect(reply.status).toBe("retry");
      const ms = reply.status === "retry" ? reply.afterMs : 0;
      pauses.push(ms);
      life.later(3 * ms);
      await life.expectFree();
    }
    expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
    expect(pauses.at(-1)).toBe(RESEND_MOST_MS);
    answers = savesThree();
    expect((await life.run()).reply.status).toBe("done");
    await verifySaved(life, "after an outage", false);
  });
});

test("rows that cannot be read cost their own batch, after some tries, and nothing else", async () => {
  const id = await session();
  await inside(id, async (life) => {
    endedTurn(life.sql, "I live in Turku, drink tea and own a dog.");
    await seedIndex(life);
    await life.run({ dieAt: 14 });
    life.sql.exec("UPDATE runs SET pending = '{not json'");
    for (let n = 1; n < EXTRACTION_ATTEMPTS; n += 1) {
      expect((await life.run()).reply.status).toBe("retry");
      await life.expectFree();
    }
    expect((await life.run()).reply.status).toBe("done");
    expect(outcomesOf(life.sql)).toMatchObject([{ type: "memory.skipped", reason: "failed" }]);
    endedTurn(life.sql, "I drink tea.");
    expect((await life.run()).reply.status).toBe("done");
    expect(readExtraction(life.sql)).toMatchObject({ cursor: 2, failures: 0 });
  });
});

test("a store that was deleted in between is nobody's any more: the batch is settled and its run ends", async () => {
  const id = await session();
  await inside(id, async (life) => {
    endedTurn(life.sql, "I live in Turku, drink tea and own a dog.");
    const { steps } = await life.run({ dieAt: 18 });
    expect(steps.at(-1)).toBeDefined();
    const meta = unwrap(await life.memory().meta());
    unwrap(await life.memory().destroy());
    expect((await life.run()).reply).toEqual({ status: "done", next: null });
    expect(outcomesOf(life.sql)).toMatchObject([{ type: "memory.skipped", reason: "disabled" }]);
    expect((await env.FILES.list({ prefix: meta.prefix })).objects).toEqual([]);
    expect(readExtraction(life.sql)).toMatchObject({ cursor: 1, lease: null, resendAt: null });

    // Another session makes the store anew; the old run does not go on in it.
    unwrap(await life.memory().open(meta));
    answers = [{ text: "Nothing new." }];
    endedTurn(life.sql, "What is two and two?");
    expect((await life.run()).reply.status).toBe("done");
    const runs = listRuns(life.sql, "extraction", { limit: 10 });
    expect(runs.map(({ firstTurn, lastTurn }) => [firstTurn, lastTurn])).toEqual([
      [2, 2],
      [1, 1],
    ]);
    expect(outcomesOf(life.sql)).toHaveLength(2);
    expect((await env.FILES.list({ prefix: meta.prefix })).objects).toEqual([]);
  });
});

test("a store that was archived in between takes no write, and the turn is settled once", async () => {
  const id = await session();
  await inside(id, async (life) => {
    endedTurn(life.sql, "I live in Turku, drink tea and own a dog.");
    await life.run({ dieAt: 8 });
    unwrap(await life.memory().archive());
    expect((await life.run()).reply.status).toBe("done");
    expect(await versionsOf(life)).toEqual([]);
    expect(outcomesOf(life.sql)).toMatchObject([{ type: "memory.skipped", reason: "disabled" }]);
    await life.expectFree();
  });
});

test("a session that is deleted in mid-run leaves nothing behind and writes nothing afterwards", {
  timeout: 20_000,
}, async () => {
  const id = await session();
  const at = await inside(id, (life) => {
    endedTurn(life.sql, "I live in Turku, drink tea and own a dog.");
    return { store: life.store };
  });
  await withModel(id);
  const memory = () => memdirStub(env, owner, at.store);
  let asked = 0;
  // The first answer comes, the second never does.
  atModel = async (answer) => {
    asked += 1;
    if (asked > 1) await pause(3_000);
    return answer();
  };
  const run = stub(id)
    .extract({ store: at.store, upTo: 1 })
    .catch(() => undefined);
  await settle(() => asked > 1);
  expect(await stub(id).destroy(200)).toMatchObject({ ok: true });
  made.splice(made.indexOf(id), 1);
  const before = unwrap(await memory().versions({ limit: 100, withContent: false })).length;
  expect(before).toBeGreaterThan(0);
  const free = unwrap(await memory().acquire("extraction", "another", 1));
  expect(free.status).toBe("granted");
  await run;
  await pause(1_200);
  expect(unwrap(await memory().versions({ limit: 100, withContent: false }))).toHaveLength(before);
  expect(await stub(id).extract({ store: at.store, upTo: 1 })).toEqual({ status: "none" });
  await stub(id).dropExtraction();
  await runInDurableObject(object(id), async (_instance, { storage }) => {
    expect(
      storage.sql.exec("SELECT name FROM sqlite_master WHERE name = 'meta'").toArray(),
    ).toEqual([]);
    expect(await storage.getAlarm()).toBeNull();
  });
});

test("a batch that the queue gave up is dropped once, also under a run that had begun", async () => {
  const id = await session();
  await inside(id, async (life) => {
    endedTurn(life.sql, "I live in Turku, drink tea and own a dog.");
    await life.run({ dieAt: 8 });
    dropBatch(life.ports());
    dropBatch(life.ports());
    expect(outcomesOf(life.sql)).toMatchObject([{ type: "memory.skipped", reason: "failed" }]);
    // What is left is to give the lease back.
    expect((await life.run()).reply).toEqual({ status: "done", next: null });
    expect(readExtraction(life.sql)).toMatchObject({ cursor: 1, lease: null, resendAt: null });
    expect((await life.run()).reply).toEqual({ status: "none" });
    endedTurn(life.sql, "I drink tea.");
    expect((await life.run()).reply.status).toBe("done");
    expect(outcomesOf(life.sql)).toHaveLength(2);
    await life.expectFree();
  });
});

test("what the queue gives up late does not touch the turns that came after it", async () => {
  const id = await session();
  await inside(id, async (life) => {
    endedTurn(life.sql, "I live in Turku, drink tea and own a dog.");
    await seedIndex(life);
    endedTurn(life.sql, "I drink tea.");
    dropBatch(life.ports(), 1);
    expect(readExtraction(life.sql).cursor).toBe(1);
    // It comes a second time, when its turn is settled and another one is due.
    dropBatch(life.ports(), 1);
    expect(readExtraction(life.sql).cursor).toBe(1);
    expect((await life.run()).reply.status).toBe("done");
    expect(outcomesOf(life.sql).map(({ type }) => type)).toEqual([
      "memory.skipped",
      "memory.saved",
    ]);
  });
});

test("a batch that is dropped while it is being looked at has one outcome", async () => {
  const id = await session();
  await inside(id, async (life) => {
    endedTurn(life.sql, "I live in Turku, drink tea and own a dog.");
    atModel = (answer) => {
      dropBatch(life.ports());
      return answer();
    };
    await life.run();
    expect(outcomesOf(life.sql)).toMatchObject([{ type: "memory.skipped", reason: "failed" }]);
    expect(readExtraction(life.sql)).toMatchObject({ cursor: 1, lease: null });
    await life.expectFree();
  });
});

/** A fork that makes two memories in one answer, one of them with its line, and then a third. */
function savesThree(): Step[] {
  const write = (name: string) => ({
    name: "Write",
    input: {
      file_path: `@/${name}.md`,
      content: `---\nname: ${name}\ndescription: about ${name}\ntype: user\n---\n\nOn ${name}.\n`,
    },
  });
  const line = "- [old](old.md) — something old";
  return [
    {
      text: "hm",
      tools: [
        write("city"),
        write("tea"),
        {
          name: "Edit",
          input: {
            file_path: "@/MEMORY.md",
            old_string: line,
            new_string: `${line}\n- [city](city.md) — about city`,
          },
        },
      ],
    },
    { text: "more", tools: [write("dog")] },
    { text: "That was all." },
  ];
}

/** By what the request holds, not by a queue: a repeated request gets the same answer. */
function answerOf({ request, purpose }: ModelCall): Step | undefined {
  if (purpose !== "extraction") return { text: "Hello." };
  const directory = /Write and Edit in `([^`]+)\/`/.exec(JSON.stringify(request.messages))?.[1];
  const task = request.messages.findLastIndex((message) =>
    JSON.stringify(message).includes("not from the user"),
  );
  const had = request.messages.slice(task).filter(({ role }) => role === "assistant").length;
  const step = answers[Math.min(had, answers.length - 1)];
  return JSON.parse(JSON.stringify(step).replaceAll('"@/', `"${directory}/`)) as Step;
}

interface Life {
  sql: SqlStorage;
  store: string;
  ports(): ExtractPorts;
  memory(): ReturnType<typeof memdirStub>;
  /** Lets time pass for the runs that follow. */
  later(ms: number): void;
  /** Runs what is due; behind its `dieAt`th step of any kind it is dead, and never learns of it. */
  run(options?: {
    dieAt?: number;
    settings?: Partial<AgentSettings>;
  }): Promise<{ reply: ExtractReply; died: boolean; steps: string[] }>;
  /** The memory's lease is nobody's. */
  expectFree(): Promise<void>;
}

/** What a session's object is to an extraction, in that object. */
function lifeOf(state: DurableObjectState): Life {
  const { sql } = state.storage;
  const { memory } = readMeta(sql);
  const store = memory.enabled ? memory.storeId : "";
  let offset = 0;
  const base = (): ExtractPorts => ({
    sql,
    env,
    settings: { ...variablesOf(env), ...MODEL },
    commit: (write) => state.storage.transactionSync(write),
    now: () => Date.now() + offset,
  });
  const stubOf = () => memdirStub(env, owner, store);
  return {
    sql,
    store,
    ports: base,
    memory: stubOf,
    later(ms) {
      offset += ms;
    },
    async run({ dieAt = Number.POSITIVE_INFINITY, settings = {} } = {}) {
      const steps: string[] = [];
      const begin = (name: string) => {
        if (steps.length >= dieAt) throw new Error("It is dead");
        steps.push(name);
        const own = steps.length;
        return () => {
          if (own >= dieAt) throw new Error("It died");
        };
      };
      const later = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
        const end = begin(name);
        const result = await work();
        end();
        return result;
      };
      const ports = base();
      const heard = atModel;
      atModel = (answer) => later("model", () => (heard ? heard(answer) : answer()));
      const reply = await extract(
        {
          ...ports,
          settings: { ...ports.settings, ...settings },
          env: { FILES: env.FILES, MEMDIR: watched(later) },
          commit(write) {
            const end = begin("commit");
            ports.commit(write);
            end();
          },
        },
        false,
        new AbortController().signal,
      ).catch((): ExtractReply => ({ status: "none" }));
      atModel = heard;
      return { reply, died: steps.length >= dieAt, steps };
    },
    async expectFree() {
      const reply = unwrap(await stubOf().acquire("extraction", "probe", 60_000));
      expect(reply.status).toBe("granted");
      if (reply.status === "granted") await stubOf().release("extraction", reply.token);
    },
  };
}

/** The memory directories, each call of which is a step. */
function watched(
  step: <T>(name: string, work: () => Promise<T>) => Promise<T>,
): DurableObjectNamespace {
  const get = (id: DurableObjectId) => {
    const real = env.MEMDIR.get(id) as unknown as Record<
      string,
      (...args: unknown[]) => Promise<unknown>
    >;
    return new Proxy(
      {},
      {
        get:
          (_target, name: string) =>
          (...args: unknown[]) =>
            step(`memdir.${name}`, async () => real[name]?.(...args)),
      },
    );
  };
  return {
    idFromName: (name: string) => env.MEMDIR.idFromName(name),
    get,
  } as unknown as DurableObjectNamespace;
}

async function verifySaved(life: Life, where: string, exactly = true): Promise<void> {
  const { sql } = life;
  const versions = await versionsOf(life);
  const written = versions.map(({ path, operation }) => `${operation} ${path}`).toSorted();
  // The index: its seed, the fork's own line, and what healing added.
  expect(written, where).toEqual(
    [
      "created MEMORY.md",
      "created city.md",
      "created dog.md",
      "created old.md",
      "created tea.md",
      "modified MEMORY.md",
      "modified MEMORY.md",
    ].toSorted(),
  );
  const index = unwrap(await life.memory().read("MEMORY.md"));
  const lines = parseIndex(new TextDecoder().decode(index?.bytes)).map(({ path }) => path);
  expect(lines.toSorted(), where).toEqual(["city.md", "dog.md", "old.md", "tea.md"]);

  const told = outcomesOf(sql);
  expect(told, where).toHaveLength(1);
  const saved = told.flatMap(({ memories }) => memories ?? []);
  const own = ownOf(versions);
  for (const { memory_version_id } of saved) {
    expect(
      own.map(({ id }) => id),
      where,
    ).toContain(memory_version_id);
  }
  // What healing added is not told of where a crash came right behind it.
  const files = saved.map(({ path }) => path).filter((path) => path !== "/MEMORY.md");
  expect(files.toSorted(), where).toEqual(["/city.md", "/dog.md", "/tea.md"]);

  const [run, ...more] = listRuns(sql, "extraction", { limit: 10 });
  expect(more, where).toEqual([]);
  expect(run, where).toMatchObject({
    outcome: "end_turn",
    iteration: 3,
    pending: [],
    messages: [],
  });
  expect(
    run?.log.calls.map(({ tool, error }) => [tool, error]),
    where,
  ).toEqual([
    ["Write", undefined],
    ["Write", undefined],
    ["Edit", undefined],
    ["Write", undefined],
  ]);
  const state = { cursor: 1, failures: 0, lease: null, resendAt: null };
  expect(readExtraction(sql), where).toMatchObject(state);
  // A death during an answer costs that answer, and no more.
  if (exactly)
    expect(model.requests.length, where).toBeLessThanOrEqual(where.includes("lives") ? 12 : 4);
  await life.expectFree();
}

/** Those that a session made. */
function ownOf(versions: Version[]): Version[] {
  return versions.filter(({ actor }) => actor.type === "session");
}

async function versionsOf(life: Life): Promise<Version[]> {
  return unwrap(await life.memory().versions({ limit: 100, withContent: false }));
}

async function seedIndex(life: Life): Promise<void> {
  const actor = { type: "user", userId: "ann" } as const;
  const bytes = (text: string) => new TextEncoder().encode(text);
  const file = "---\nname: old\ndescription: something old\ntype: user\n---\n\nOld.\n";
  unwrap(await life.memory().write({ path: "old.md", bytes: bytes(file), actor }));
  const index = "- [old](old.md) — something old\n";
  unwrap(await life.memory().write({ path: "MEMORY.md", bytes: bytes(index), actor }));
}

interface Told {
  type: string;
  reason?: string;
  memories?: { path: string; memory_version_id: string }[];
}

/** What people were told that came of the extractions. */
function outcomesOf(sql: SqlStorage): Told[] {
  return sql
    .exec<{ body: string }>("SELECT body FROM events WHERE type LIKE 'memory.%' ORDER BY seq")
    .toArray()
    .map(({ body }): Told => JSON.parse(body));
}

/** A turn as it stands when it has ended; nobody is told yet that it is due. */
function endedTurn(
  sql: SqlStorage,
  said: string,
  outcome: LoopOutcome = { reason: "end_turn" },
): void {
  const content = [{ type: "text" as const, text: said }];
  const event = appendEvent(sql, { type: "user.message", content }, 1);
  addTurn(sql, event.id, JSON.stringify(content));
  const { n } = sql.exec<{ n: number }>("SELECT max(n) AS n FROM turns").one();
  changeTurn(sql, n, { status: "done", outcome });
  appendMessage(sql, n, { role: "user", content });
  appendMessage(sql, n, { role: "assistant", content: [{ type: "text", text: "I see." }] });
  endTurnMark(sql, n, outcome, { everyTurns: 1, overBudget: false }, 1);
  changeExtraction(sql, { resendAt: Date.now() + 1_000_000 });
}

/** A session of its own, with a memory of its own. */
async function session(): Promise<string> {
  const id = newId("sesn");
  made.push(id);
  const meta = { ...newMeta(id), environmentId: id, projectRoot: `/workspace/${id}` };
  expect(await stub(id).create(meta, [])).toMatchObject({ ok: true });
  return id;
}

/** Lets the session's own calls reach the model. */
async function withModel(id: string): Promise<void> {
  await evictDurableObject(object(id));
  await runInDurableObject(object(id), (instance) => {
    Reflect.set(instance, "env", { ...env, ...MODEL });
  });
}

function inside<T>(id: string, work: (life: Life) => T | Promise<T>): Promise<T> {
  return runInDurableObject<Session, T>(object(id), (_instance, state) => work(lifeOf(state)));
}

function stub(id: string): SessionStub {
  return sessionStub(env, owner, id);
}

function object(id: string): DurableObjectStub<Session> {
  const name = JSON.stringify([owner.tenant, owner.user, id]);
  return env.SESSION.get(env.SESSION.idFromName(name)) as DurableObjectStub<Session>;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function settle(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let n = 0; n < 400; n += 1) {
    if (await holds()) return;
    await pause(10);
  }
  throw new Error("It did not come to pass");
}
