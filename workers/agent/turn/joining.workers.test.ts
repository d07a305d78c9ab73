import { env, runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { countMessages } from "../../../src/platform/threads/entries.ts";
import { readMessages } from "../../../src/platform/threads/view.ts";
import type { Message } from "../../../src/shared/loop/messages.ts";
import type { AgentEnv } from "../../env.ts";
import { dueBatch, endTurnMark, settleUpTo } from "../rows/extraction-state.ts";
import { changeTurn, currentTurn, turnByNumber } from "../rows/turns.ts";
import { createSchema } from "../session/schema.ts";
import { acceptEvent } from "./accept-event.ts";
import { createJoins } from "./joining.ts";
import { startTurn } from "./turn-ends.ts";

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

function inside(work: (sql: SqlStorage) => void): Promise<void> {
  const object = env.SESSION.get(env.SESSION.newUniqueId());
  return runInDurableObject(object, (_instance, { storage: { sql } }) => {
    createSchema(sql);
    work(sql);
  });
}

/** A running turn, and what joins it. */
function running(sql: SqlStorage, signal = new AbortController().signal) {
  const turn = currentTurn(sql);
  if (!turn) throw new Error("no turn");
  startTurn(sql, turn, 1);
  return { turn: turnByNumber(sql, turn.n), joins: createJoins(sql, turn, signal) };
}

test("a joined message is looked at with the turn that it joined, and the cursor passes over its own", () =>
  inside((sql) => {
    say(sql, "go");
    const { turn, joins } = running(sql);
    const tea = say(sql, "I like tea");
    for (const message of joins.take([ASKED, RESULTS])) {
      sql.exec(
        "INSERT INTO messages (turn, role, body) VALUES (?, ?, ?)",
        turn.n,
        message.role,
        JSON.stringify(message),
      );
      joins.joined(message, 2);
    }
    const events = sql.exec<{ body: string }>("SELECT body FROM events ORDER BY seq DESC LIMIT 1");
    expect(JSON.parse(events.one().body)).toMatchObject({
      type: "turn.joined",
      turn_id: turn.eventId,
      message_id: tea,
    });
    changeTurn(sql, turn.n, { status: "done", outcome: { reason: "end_turn" } });
    endTurnMark(sql, turn.n, { reason: "end_turn" }, RULES, 3);
    expect(dueBatch(sql, false)).toEqual({ first: 1, last: 1 });
    expect(JSON.stringify(readMessages(sql, { upToTurn: 1 }))).toContain("I like tea");
    expect(countMessages(sql, { first: 1, last: 1 })).toBe(1);
    expect(currentTurn(sql)).toBeUndefined();

    settleUpTo(sql, 1, 4);
    say(sql, "next");
    const after = running(sql).turn;
    expect(after.n).toBe(3);
    endTurnMark(sql, after.n, { reason: "end_turn" }, RULES, 5);
    expect(dueBatch(sql, false)).toEqual({ first: 3, last: 3 });
  }));

test.each([
  ["before the model has spoken", [] as Message[]],
  ["behind an answer that is to go on", [ASKED, RESULTS, { ...ASKED, content: [] }]],
])("nothing joins %s", (_name, history) =>
  inside((sql) => {
    say(sql, "go");
    const { joins } = running(sql);
    say(sql, "tea");
    expect(
      joins.take([...history, { role: "user", content: [{ type: "text", text: "x" }] }]),
    ).toEqual([]);
  }),
);

test("what was taken before an interrupt and not recorded yet keeps its own turn", () =>
  inside((sql) => {
    const stop = new AbortController();
    say(sql, "go");
    const { joins } = running(sql, stop.signal);
    say(sql, "tea");
    const [message] = joins.take([ASKED, RESULTS]);
    expect(message && joins.admits(message)).toBe(true);
    stop.abort();
    expect(message && joins.admits(message)).toBe(false);
    expect(joins.admits(RESULTS)).toBe(true);
    expect(joins.take([ASKED, RESULTS])).toEqual([]);
  }));
