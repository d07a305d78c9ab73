// A session costs the same at turn 50 and at turn 2,000: counted in rows that SQLite reads, which no
// busy machine changes.

import { env, runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { transaction } from "../../../src/platform/state.ts";
import { appendEntry, lastEntry } from "../../../src/platform/threads/entries.ts";
import { readTurn } from "../../../src/platform/threads/record-step.ts";
import { changeSize, noteAnswered, tailTokens } from "../../../src/platform/threads/size.ts";
import { readShown, writeView } from "../../../src/platform/threads/view.ts";
import { MODEL, USER } from "../../../src/shared/thread/entry.ts";
import type { AgentEnv } from "../../env.ts";
import { appendEvent } from "../rows/events.ts";
import { advanceCursor, dueBatch, endTurnMark, requestAll } from "../rows/extraction-state.ts";
import { beginRun, endRun, lastRunsEnded, newestRun, unfinishedRun } from "../rows/runs.ts";
import { mainThread } from "../rows/session-threads.ts";
import { addTurn, changeTurn, currentTurn, lastTurn } from "../rows/turns.ts";
import { createSchema } from "./schema.ts";

declare global {
  namespace Cloudflare {
    interface Env extends AgentEnv {}
  }
}

const USAGE = { input: 100, cacheRead: 0, cacheCreation: 0, output: 10 };
const text = (words: string) => [{ type: "text" as const, text: words }];
/** Turns that nobody has extracted yet, in both sessions: over budget, or the model is out. */
const RULES = { everyTurns: 1, overBudget: true };
/** A compaction every so many turns. */
const CUT = 20;

interface Counted {
  sql: SqlStorage;
  /** Rows that were read since the last look. */
  rows(): number;
}

function counted(real: SqlStorage): Counted {
  let cursors: { rowsRead: number }[] = [];
  const exec = (query: string, ...values: unknown[]) => {
    const cursor = real.exec(query, ...values);
    cursors.push(cursor);
    return cursor;
  };
  const sql = new Proxy(real, {
    get: (target, name) => (name === "exec" ? exec : Reflect.get(target, name)),
  });
  return {
    sql,
    rows() {
      const sum = cursors.reduce((rows, { rowsRead }) => rows + rowsRead, 0);
      cursors = [];
      return sum;
    },
  };
}

/** A turn as a session leaves it, with its run of the notes. */
function addedTurn(sql: SqlStorage, n: number): void {
  const thread = mainThread(sql);
  addTurn(sql, appendEvent(sql, { type: "user.message", content: text(`Turn ${n}`) }, n));
  changeTurn(sql, n, { status: "done" });
  appendEntry(thread, n, { origin: USER, message: { role: "user", content: text(`Turn ${n}`) } });
  appendEntry(thread, n, { origin: MODEL, message: { role: "assistant", content: text("Yes.") } });
  noteAnswered(thread, 50, 200_000, USAGE);
  endTurnMark(sql, n, { reason: "end_turn" }, RULES, n);
  beginRun(sql, "session-notes", { first: n, last: n }, n);
  endRun(sql, "session-notes", "end_turn", n);
  if (n % CUT === 0) {
    writeView(thread, { cut: lastEntry(thread), head: [], results: 0, thinking: 0 });
    changeSize(thread, { counted: 100, upTo: lastEntry(thread) });
  }
}

/** What each turn asks of its rows, by name. */
function costs({ sql, rows }: Counted, n: number): Record<string, number> {
  const thread = mainThread(sql);
  const cost = (work: () => unknown) => {
    rows();
    work();
    return rows();
  };
  return {
    "the view": cost(() => readTurn(thread, n)),
    "its size": cost(() => tailTokens(thread, 100)),
    "the view of a batch": cost(() => readShown(thread, { upToTurn: 5, fromTurn: 3 })),
    "a batch": cost(() => dueBatch(sql, false, 10_000)),
    "a turn's end": cost(() => endTurnMark(sql, n, { reason: "end_turn" }, RULES, n)),
    "all that is due": cost(() => requestAll(sql, n)),
    "the cursor": cost(() => advanceCursor(sql, 2, n)),
    "the turns": cost(() => [currentTurn(sql), lastTurn(sql)]),
    "the runs": cost(() => [
      unfinishedRun(sql, "session-notes"),
      newestRun(sql, "session-notes"),
      lastRunsEnded(sql, "session-notes", n, () => true),
    ]),
  };
}

test("GROW-01, GROW-05: nothing that a turn asks of its rows grows with the turns before it", {
  timeout: 60_000,
}, async () => {
  const costsAt = (turns: number) => {
    const object = env.SESSION.get(env.SESSION.newUniqueId());
    return runInDurableObject(object, (_instance, { storage }) => {
      createSchema(storage.sql);
      transaction(storage, () => {
        for (let n = 1; n <= turns; n += 1) addedTurn(storage.sql, n);
      });
      return costs(counted(storage.sql), turns);
    });
  };
  const [few, many] = [await costsAt(50), await costsAt(2_010)];
  for (const [name, rows] of Object.entries(many)) {
    // A turn is searched for among its entries: in twice as many with one step more.
    expect(rows, name).toBeLessThanOrEqual((few[name] ?? 0) + 40);
  }
  expect(Object.values(few).every((rows) => rows > 0)).toBe(true);
});
