import { env, runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { readMessages } from "../../../src/platform/threads/view.ts";
import type { AgentEnv } from "../../env.ts";
import { writeMeta } from "../rows/meta.ts";
import { addPendingAction, openActions } from "../rows/pending-actions.ts";
import { mainThread } from "../rows/session-threads.ts";
import { addTurn, changeTurn } from "../rows/turns.ts";
import { createSchema } from "../session/schema.ts";
import { wholeMeta } from "../testing/meta-fixture.ts";
import { callRow, messageRow } from "../testing/thread-rows-fixture.ts";
import { finishTurn } from "./finish-turn.ts";

declare global {
  namespace Cloudflare {
    interface Env extends AgentEnv {}
  }
}

test("a defect in the middle of calls tells of done work what it did, and of the rest that it failed", async () => {
  const object = env.SESSION.get(env.SESSION.newUniqueId());
  await runInDurableObject(object, (_instance, { storage: { sql } }) => {
    createSchema(sql);
    writeMeta(sql, wholeMeta("sesn_1"));
    addTurn(sql, { id: "sevt_1", seq: 1 });
    changeTurn(sql, 1, { status: "running" });
    const results: [string, string | null][] = [
      ["done", '{"content":"wrote it","isError":false,"notes":[]}'],
      ["wrong", '{"content":"no such file","isError":true,"notes":[]}'],
      ["broken", '{"content":'],
      ["open", null],
    ];
    const input = JSON.parse('{"__proto__":{"a":1}}');
    const content = results.map(([id]) => ({ type: "tool_use", id, name: "Write", input }));
    messageRow(sql, "model", { role: "assistant", content });
    for (const [id, result] of results) callRow(sql, id, {}, { event_id: "sevt_2", result });
    const action = { turn: 1, kind: "approval" as const, until: 9 };
    addPendingAction(sql, { ...action, eventId: "sevt_2", callId: "open" }, 1);
    finishTurn(sql, 1, undefined, { everyTurns: 1, overBudget: false }, 2);
    const [said, answered] = readMessages(mainThread(sql));
    expect(JSON.stringify(said?.content)).toBe(JSON.stringify(content));
    const failed = {
      content: expect.stringContaining("before this call was done"),
      is_error: true,
    };
    expect(answered?.content).toEqual([
      { type: "tool_result", tool_use_id: "done", content: "wrote it" },
      { type: "tool_result", tool_use_id: "wrong", content: "no such file", is_error: true },
      { type: "tool_result", tool_use_id: "broken", ...failed },
      { type: "tool_result", tool_use_id: "open", ...failed },
    ]);
    expect(sql.exec("SELECT * FROM calls").toArray()).toEqual([]);
    expect(openActions(sql, 1).eventIds).toEqual([]);
  });
});
