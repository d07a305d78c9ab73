import { env, runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { appendEntry, measureTurns } from "../../../src/platform/threads/entries.ts";
import { readMessages } from "../../../src/platform/threads/view.ts";
import type { Draft } from "../../../src/shared/thread/entry.ts";
import type { Message } from "../../../src/shared/thread/messages.ts";
import type { AgentEnv } from "../../env.ts";
import { readEvents } from "../rows/events.ts";
import { advanceCursor, dueBatch, endTurnMark } from "../rows/extraction-state.ts";
import { writeMeta } from "../rows/meta.ts";
import { mainThread } from "../rows/session-threads.ts";
import { changeTurn, currentTurn, queuedTurns, turnByNumber } from "../rows/turns.ts";
import { createSchema } from "../session/schema.ts";
import { wholeMeta } from "../testing/meta-fixture.ts";
import { acceptEvent } from "./accept-event.ts";
import { startTurn } from "./finish-turn.ts";
import { joiningHook } from "./joining-hook.ts";

declare global {
  namespace Cloudflare {
    interface Env extends AgentEnv {}
  }
}

const RULES = { everyTurns: 1, overBudget: false };
const RESULTS: Message = {
  role: "user",
  content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "ok" }],
};
const ASKED: Message = {
  role: "assistant",
  content: [{ type: "tool_use", id: "toolu_1", name: "Glob", input: {} }],
};

function say(sql: SqlStorage, text: string): string {
  const content = [{ type: "text" as const, text }];
  return acceptEvent(sql, { type: "user.message", content }, 1).id;
}

function inside(work: (sql: SqlStorage) => void | Promise<void>): Promise<void> {
  const object = env.SESSION.get(env.SESSION.newUniqueId());
  return runInDurableObject(object, async (_instance, { storage: { sql } }) => {
    createSchema(sql);
    writeMeta(sql, wholeMeta("sesn_1"));
    await work(sql);
  });
}

/** A running turn, and what joins it. */
function running(sql: SqlStorage, signal = new AbortController().signal) {
  const turn = currentTurn(sql);
  if (!turn) throw new Error("no turn");
  startTurn(sql, turn, 1);
  const hook = joiningHook({ sql }, turn, signal);
  return {
    turn: turnByNumber(sql, turn.n),
    take: async (history: Message[]) => (await hook.joining?.(history)) ?? [],
    join(draft: Draft) {
      appendEntry(mainThread(sql), turn.n, draft);
      hook.record?.({ type: "joined", ...draft }, 2);
    },
  };
}

test("a joined message is looked at with the turn that it joined, and the cursor passes over its own", () =>
  inside(async (sql) => {
    say(sql, "go");
    const { turn, take, join } = running(sql);
    const tea = say(sql, "I like tea");
    for (const draft of await take([ASKED, RESULTS])) join(draft);
    const [last] = readEvents(sql, { order: "desc", limit: 1 });
    expect(JSON.parse(last?.json ?? "{}")).toMatchObject({
      type: "turn.joined",
      turn_id: turn.eventId,
      message_id: tea,
    });
    changeTurn(sql, turn.n, { status: "done" });
    endTurnMark(sql, turn.n, { reason: "end_turn" }, RULES, 3);
    expect(dueBatch(sql, false)).toEqual({ first: 1, last: 1 });
    expect(JSON.stringify(readMessages(mainThread(sql), { upToTurn: 1 }))).toContain("I like tea");
    expect(measureTurns(mainThread(sql), { first: 1, last: 1 }).messages).toBe(1);
    expect(currentTurn(sql)).toBeUndefined();

    advanceCursor(sql, 1, 4);
    say(sql, "next");
    const after = running(sql).turn;
    expect(after.n).toBe(3);
    endTurnMark(sql, after.n, { reason: "end_turn" }, RULES, 5);
    expect(dueBatch(sql, false)).toEqual({ first: 3, last: 3 });
  }));

test.each([
  ["before the model has spoken", [] as Message[]],
  ["after an answer that is to go on", [ASKED, RESULTS, { ...ASKED, content: [] }]],
])("nothing joins %s", (_name, history) =>
  inside(async (sql) => {
    say(sql, "go");
    const { take } = running(sql);
    say(sql, "tea");
    const words: Message = { role: "user", content: [{ type: "text", text: "x" }] };
    expect(await take([...history, words])).toEqual([]);
  }),
);

test("what comes with an interrupt, or after one, keeps its own turn", () =>
  inside(async (sql) => {
    const stop = new AbortController();
    say(sql, "go");
    const { take } = running(sql, stop.signal);
    const tea = say(sql, "tea");
    expect(await take([ASKED, RESULTS])).toHaveLength(1);
    stop.abort();
    expect(await take([ASKED, RESULTS])).toEqual([]);
    expect(queuedTurns(sql)).toMatchObject([{ eventId: tea }]);
  }));
