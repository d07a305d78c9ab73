import { env, runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import type { AgentEnv } from "../../env.ts";
import { addTurn, changeTurn } from "../rows/turns.ts";
import { createSchema } from "../session/schema.ts";
import { contextOf } from "../testing/context-fixture.ts";
import { callRow } from "../testing/thread-rows-fixture.ts";
import { eventsHook } from "./events-hook.ts";

declare global {
  namespace Cloudflare {
    interface Env extends AgentEnv {}
  }
}

test("a step has one moment: a call is pending for exactly as long as is said, however slow its record is", () => {
  const object = env.SESSION.get(env.SESSION.newUniqueId());
  return runInDurableObject(object, (_instance, { storage }) => {
    const { sql } = storage;
    createSchema(sql);
    addTurn(sql, { id: "sevt_1", seq: 1 });
    changeTurn(sql, 1, { status: "running" });
    const call = { type: "tool_use" as const, id: "toolu_1", name: "Write", input: {} };
    callRow(sql, call.id, call);
    let clock = 100;
    const session = contextOf(storage, { now: () => ++clock });
    const { APPROVAL_TIMEOUT_MS: ms } = session.settings;
    const usage = { input: 1, cacheRead: 0, cacheCreation: 0, output: 1 };
    const message = { role: "assistant" as const, content: [call] };
    eventsHook(session, { n: 1, eventId: "sevt_1" }).record?.(
      { type: "answered", message, calls: [{ call, permission: "ask" }], usage },
      100,
    );
    const [row] = sql.exec("SELECT announced_at, until FROM pending_actions").toArray();
    expect(row).toEqual({ announced_at: 100, until: 100 + ms });
    const times = sql.exec<{ at: number }>("SELECT DISTINCT at FROM events").toArray();
    expect(times).toEqual([{ at: 100 }]);
  });
});
