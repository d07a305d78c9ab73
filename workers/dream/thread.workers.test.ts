// A kind of thread that nobody has: the durable loop knows no session, so whoever has an object with
// rows can run a conversation in it, and go on with it after a death at any moment.

import { env, runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { forgetState, transaction } from "../../src/platform/state.ts";
import { clearThread } from "../../src/platform/threads/clear-thread.ts";
import { drive } from "../../src/platform/threads/drive.ts";
import { appendEntry, readEntries } from "../../src/platform/threads/entries.ts";
import { readProgress } from "../../src/platform/threads/progress.ts";
import { knownFiles } from "../../src/platform/threads/read-files.ts";
import { readTurn } from "../../src/platform/threads/record-step.ts";
import { createThreadTables } from "../../src/platform/threads/schema.ts";
import { storedResultsMount } from "../../src/platform/threads/stored-results.ts";
import type { Thread } from "../../src/platform/threads/thread.ts";
import { createMapStore } from "../../src/shared/files/map-store.ts";
import { createMounts } from "../../src/shared/files/mounts.ts";
import type { FileStore } from "../../src/shared/files/store.ts";
import { runLoop } from "../../src/shared/loop/loop.ts";
import type { Answer, Model } from "../../src/shared/loop/model.ts";
import { RESULT_LIMITS } from "../../src/shared/loop/result-budget.ts";
import type { LoopOutcome } from "../../src/shared/loop/steps.ts";
import { STORED_DIRECTORY } from "../../src/shared/loop/stored-result.ts";
import type { Tool } from "../../src/shared/loop/tool.ts";
import { textDraft } from "../../src/shared/thread/entry.ts";
import type { AssistantBlock, Message } from "../../src/shared/thread/messages.ts";
import { createFileTools } from "../../src/shared/tools/file-tools.ts";
import type { SyncEnv } from "../env.ts";

declare global {
  namespace Cloudflare {
    interface Env extends SyncEnv {}
  }
}

const USAGE = { input: 1, cacheRead: 0, cacheCreation: 0, output: 1 };
const call = (id: string, name: string, input: Record<string, unknown>): AssistantBlock => ({
  type: "tool_use",
  id,
  name,
  input,
});
const ANSWERS: AssistantBlock[][] = [
  [call("c1", "Write", { file_path: "/shelf/a.md", content: "one" }), call("c2", "Count", {})],
  [
    call("c3", "Read", { file_path: "/shelf/a.md" }),
    call("c4", "Edit", { file_path: "/shelf/a.md", old_string: "one", new_string: "two" }),
  ],
  // Only whoever knows the present content may write over it: what was known is on disk too.
  [call("c5", "Write", { file_path: "/shelf/a.md", content: "three" })],
  [{ type: "text", text: "The shelf is in order." }],
];
const TURN = 1;

/** The object, and the shelf, which is elsewhere and outlives it. */
interface Life {
  storage: DurableObjectStorage;
  thread: Thread;
  shelf: FileStore;
  puts: string[];
  requests: Message[][];
  commits: number;
}

function lifeOf(storage: DurableObjectStorage): Life {
  const { sql } = storage;
  createThreadTables(sql);
  sql.exec("CREATE TABLE IF NOT EXISTS steps (type TEXT NOT NULL)");
  const thread = { sql, id: "inventory-7", number: 7 };
  appendEntry(thread, TURN, textDraft({ type: "task" }, "Put the shelf in order."));
  const puts: string[] = [];
  let time = 0;
  const store = createMapStore(() => ++time);
  const shelf: FileStore = {
    ...store,
    async put(path, bytes, precondition) {
      const result = await store.put(path, bytes, precondition);
      if (result.status === "written") puts.push(new TextDecoder().decode(bytes));
      return result;
    },
  };
  return { storage, thread, shelf, puts, requests: [], commits: 0 };
}

function toolsOf({ thread, shelf }: Life): Tool[] {
  const mounts = createMounts([
    { at: "/shelf", store: shelf, rights: "write", maxFileBytes: 1000, label: "the shelf" },
    storedResultsMount(thread.sql),
  ]);
  const count: Tool = {
    kind: "read",
    name: "Count",
    description: "Counts.",
    input_schema: { type: "object" },
    run: async () => ({ content: "n".repeat(5000), isError: false, notes: [] }),
  };
  return [...createFileTools({ mounts, seen: knownFiles(thread) }), count];
}

/** Answers by how many answers the conversation has, as a model that is asked again does. */
function modelOf(life: Life): Model {
  return {
    async *stream({ messages }): AsyncGenerator<never, Answer> {
      life.requests.push([...messages]);
      const n = messages.filter(({ role }) => role === "assistant").length;
      const content = ANSWERS[n] ?? [];
      const asks = content.some(({ type }) => type === "tool_use");
      const stopReason = asks ? "tool_use" : "end_turn";
      const none = { malformed: new Map<string, string>(), cutCall: false, usage: USAGE };
      return { status: "answered", content, stopReason, ...none };
    },
  };
}

/** Runs the thread from its rows; dies with its `dieAt`th commit, before or after that is on disk. */
async function run(life: Life, dieAt = Number.POSITIVE_INFINITY, lost = false) {
  const { storage, thread } = life;
  // Who goes on after a death knows what is on disk.
  forgetState(storage.sql);
  const begun = readProgress(thread, TURN).outcome;
  if (begun) return begun;
  let commits = 0;
  const context = {
    sql: storage.sql,
    now: () => 1,
    commit<T>(write: () => T): T {
      commits += 1;
      if (commits === dieAt && lost) throw new Error("It died");
      const result = transaction(storage, write);
      if (commits === dieAt) throw new Error("It died");
      return result;
    },
  };
  const tools = toolsOf(life);
  const loop = runLoop(
    readTurn(thread, TURN),
    {
      model: modelOf(life),
      tools: new Map(tools.map((tool) => [tool.name, tool])),
      request: {
        purpose: "dream",
        sessionId: "drm_1",
        model: "any",
        maxTokens: 100,
        system: ["Be tidy."],
        tools,
      },
      hooks: {},
      sleep: async () => {},
      random: () => 0,
      limits: {
        iterations: 9,
        continuations: 1,
        results: { ...RESULT_LIMITS, one: 1000 },
        attempts: 2,
        firstMs: 1,
        mostMs: 1,
        inMemoryMs: 1,
        retryAfterMostMs: 1,
      },
    },
    new AbortController().signal,
  );
  const hook = {
    record: ({ type }: { type: string }) =>
      void storage.sql.exec("INSERT INTO steps (type) VALUES (?)", type),
  };
  let outcome: LoopOutcome | undefined;
  try {
    outcome = await drive(loop, context, thread, TURN, [hook]);
  } catch {
    outcome = undefined;
  }
  life.commits = commits;
  return outcome;
}

/** All that is left of a run, whatever it went through. */
function left({ storage: { sql }, thread, puts }: Life) {
  const entries = readEntries(thread).map(({ origin, message }) => ({ origin, message }));
  // An Edit that finds its own work done says so in other words.
  const text = JSON.stringify(entries).replace("md: as asked,", "md: 1 replacement,");
  return {
    entries: JSON.parse(text) as typeof entries,
    stored: sql.exec("SELECT path, size FROM stored_results").toArray(),
    calls: sql.exec("SELECT id FROM calls").toArray(),
    steps: sql.exec("SELECT type FROM steps WHERE type <> 'request_started'").toArray(),
    puts,
  };
}

function inObject<T>(work: (life: Life) => Promise<T>): Promise<T> {
  const object = env.MEMDIR.get(env.MEMDIR.newUniqueId());
  return runInDurableObject(object, (_instance, { storage }) => work(lifeOf(storage)));
}

test("a thread of another kind runs by the one driver, in an object that is no session's", () =>
  inObject(async (life) => {
    expect(await run(life)).toEqual({ reason: "end_turn" });
    const { entries, stored, puts } = left(life);
    expect(puts).toEqual(["one", "two", "three"]);
    expect(entries.map(({ origin }) => origin.type)).toEqual([
      "task",
      ...["model", "results", "model", "results", "model", "results"],
      "model",
    ]);
    expect(entries[2]?.origin).toEqual({
      type: "results",
      stored: [{ callId: "c2", path: `${STORED_DIRECTORY}/c2.txt` }],
    });
    expect(stored).toEqual([{ path: "c2.txt", size: 5000 }]);
    clearThread(life.thread);
    expect(left(life)).toMatchObject({ entries: [], stored: [] });
  }));

test("killed with each of its records, lost or kept, it comes to the same and does nothing twice", {
  timeout: 60_000,
}, async () => {
  const whole = await inObject(async (life) => {
    await run(life);
    return { ...left(life), commits: life.commits };
  });
  const { commits, ...expected } = whole;
  expect(commits).toBeGreaterThan(15);
  for (let dieAt = 1; dieAt <= commits; dieAt += 1) {
    for (const lost of [true, false]) {
      const where = `record ${dieAt}, ${lost ? "lost" : "kept"}`;
      await inObject(async (life) => {
        await run(life, dieAt, lost);
        expect(await run(life), where).toEqual({ reason: "end_turn" });
        expect(left(life), where).toEqual(expected);
        // A request that was broken off is made once more, and none begins otherwise than before.
        expect(life.requests.length, where).toBeLessThanOrEqual(ANSWERS.length + 1);
      });
    }
  }
});

test("killed with every second record, it comes to its end all the same", () =>
  inObject(async (life) => {
    let outcome: LoopOutcome | undefined;
    for (let lives = 0; !outcome && lives < 40; lives += 1) outcome = await run(life, 2);
    expect(outcome).toEqual({ reason: "end_turn" });
    expect(life.puts).toEqual(["one", "two", "three"]);
  }));
