import { env, evictDurableObject, runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import type { AgentEnv } from "../../env.ts";
import { createSchema } from "../session/schema.ts";
import { appendEvent } from "./events.ts";
import {
  dueBatch,
  endTurnMark,
  markWrote,
  readExtraction,
  requestAll,
} from "./extraction-state.ts";
import { recordRecall } from "./recalls.ts";
import { addTurn, changeTurn, turnByNumber } from "./turns.ts";

declare global {
  namespace Cloudflare {
    interface Env extends AgentEnv {}
  }
}

const RULES = { everyTurns: 1, overBudget: false };

/** A turn whose search says this of its message. */
function say(sql: SqlStorage, worthKeeping: boolean | undefined): number {
  const content = [{ type: "text" as const, text: "Which green tea do I drink?" }];
  addTurn(sql, appendEvent(sql, { type: "user.message", content }, 1));
  const { n } = sql.exec<{ n: number }>("SELECT max(n) AS n FROM turns").one();
  const explanation = {
    ...{ offered: 1, selected: [], dropped: [], source: "model" as const },
    timings_ms: { scan: 1, select: 2, read: 3 },
  };
  const found = { explanation, candidates: ["tea.md"], shown: [], worthKeeping };
  recordRecall(sql, turnByNumber(sql, n), found, 2);
  return n;
}

function end(sql: SqlStorage, n: number): void {
  changeTurn(sql, n, { status: "done" });
  endTurnMark(sql, n, { reason: "end_turn" }, RULES, 3);
}

const inside = <T>(work: (sql: SqlStorage) => T): Promise<T> =>
  runInDurableObject(env.SESSION.get(env.SESSION.newUniqueId()), (_instance, state) => {
    createSchema(state.storage.sql);
    return work(state.storage.sql);
  });

test("a turn that states nothing asks for nothing, and the next one that is due takes it along", () =>
  inside((sql) => {
    end(sql, say(sql, false));
    end(sql, say(sql, false));
    expect(readExtraction(sql)).toMatchObject({ cursor: 0, due: 0, requested: 0, resendAt: null });
    end(sql, say(sql, true));
    expect(readExtraction(sql)).toMatchObject({ due: 1, requested: 3 });
    expect(dueBatch(sql, false)).toEqual({ first: 1, last: 3 });
  }));

test("where nothing follows, the session's end looks at it", () =>
  inside((sql) => {
    end(sql, say(sql, false));
    requestAll(sql, 4);
    expect(readExtraction(sql).requested).toBe(1);
    expect(dueBatch(sql, true)).toEqual({ first: 1, last: 1 });
  }));

test("a turn that wrote takes the quiet ones before it along: the agent has seen them", () =>
  inside((sql) => {
    end(sql, say(sql, false));
    const n = say(sql, false);
    markWrote(sql, n);
    end(sql, n);
    expect(readExtraction(sql)).toMatchObject({ cursor: 2, due: 0, requested: 0 });
  }));

test("where the model did not say, or there was no search, the turn is due", () =>
  inside((sql) => {
    end(sql, say(sql, undefined));
    expect(readExtraction(sql)).toMatchObject({ due: 1, requested: 1 });
    const content = [{ type: "text" as const, text: "thanks" }];
    addTurn(sql, appendEvent(sql, { type: "user.message", content }, 1));
    end(sql, 2);
    expect(readExtraction(sql)).toMatchObject({ due: 2, requested: 2 });
  }));

const turn_id = "sevt_1";
test.each([
  ["a message joined it", { type: "turn.joined" as const, turn_id, message_id: "sevt_2" }],
  [
    "its client's tool answered",
    {
      type: "user.custom_tool_result" as const,
      custom_tool_use_id: "sevt_2",
      content: [{ type: "text" as const, text: "She says: on Friday" }],
    },
  ],
  [
    "somebody refused a call and said why",
    {
      type: "user.tool_confirmation" as const,
      ...{ tool_use_id: "sevt_2", result: "deny" as const, deny_message: "never on Fridays" },
    },
  ],
])("where %s, somebody said more than the search has seen", (_what, event) =>
  inside((sql) => {
    const n = say(sql, false);
    appendEvent(sql, event, 2);
    end(sql, n);
    expect(readExtraction(sql)).toMatchObject({ due: 1, requested: 1 });
    // It was said in this turn, and in no later one.
    end(sql, say(sql, false));
    expect(readExtraction(sql)).toMatchObject({ due: 1, requested: 1 });
  }),
);

test("what the search said outlives the object until its turn ends", async () => {
  const object = env.SESSION.get(env.SESSION.newUniqueId());
  await runInDurableObject(object, (_instance, { storage: { sql } }) => {
    createSchema(sql);
    say(sql, false);
  });
  await evictDurableObject(object);
  await runInDurableObject(object, (_instance, { storage: { sql } }) => {
    end(sql, 1);
    expect(readExtraction(sql)).toMatchObject({ due: 0, requested: 0 });
  });
});
