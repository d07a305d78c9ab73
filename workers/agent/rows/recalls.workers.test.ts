import { env, evictDurableObject, runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import type { AgentEnv } from "../../env.ts";
import { createSchema } from "../session/schema.ts";
import { readEvents } from "./events.ts";
import type { RecallRecord } from "./recalls.ts";
import { forgetShown, hasRecall, listRecalls, readShown, recordRecall } from "./recalls.ts";
import type { Turn } from "./turns.ts";
import { addTurn } from "./turns.ts";

declare global {
  namespace Cloudflare {
    interface Env extends AgentEnv {}
  }
}

const turn = (n: number): Turn => ({
  n,
  eventSeq: 1,
  eventId: `sevt_${n}`,
  status: "running",
  interrupted: false,
  resumeAt: undefined,
  span: undefined,
  startedAt: 1,
  deaths: 0,
});

const found = (path: string, bytes: number): RecallRecord => ({
  explanation: {
    offered: 1,
    selected: [{ path, type: "user", age_days: 3, bytes }],
    dropped: [],
    source: "model",
    timings_ms: { scan: 1, select: 2, read: 3 },
  },
  candidates: [path],
  shown: [{ id: `mem_${path}`, path, bytes }],
  worthKeeping: undefined,
});

test("REC-07: what was shown outlives the object, and a compaction forgets all of it", async () => {
  const object = env.SESSION.get(env.SESSION.newUniqueId());
  await runInDurableObject(object, (_instance, { storage: { sql } }) => {
    createSchema(sql);
    for (let n = 1; n <= 11; n += 1) addTurn(sql, { id: `sevt_${n}`, seq: n });
    recordRecall(sql, turn(9), found("m.md", 400), 1_000);
    recordRecall(sql, turn(10), found("n.md", 50), 2_000);
  });
  await evictDurableObject(object);
  await runInDurableObject(object, (_instance, { storage: { sql } }) => {
    expect([...readShown(sql)]).toEqual([
      ["mem_m.md", 400],
      ["mem_n.md", 50],
    ]);
    expect([hasRecall(sql, 9), hasRecall(sql, 1)]).toEqual([true, false]);
    forgetShown(sql, 10);
    expect([...readShown(sql)]).toEqual([["mem_n.md", 50]]);
    forgetShown(sql, 11);
    expect(readShown(sql).size).toBe(0);
    recordRecall(sql, turn(11), found("m.md", 400), 3_000);
    expect(readShown(sql).get("mem_m.md")).toBe(400);
    expect(listRecalls(sql, { after: 9, limit: 10 }).map((row) => row.turn)).toEqual([10, 11]);
    const events = readEvents(sql, { limit: 10 });
    expect(events.map(({ type }) => type)).toEqual(Array(3).fill("memory.recalled"));
  });
});

test("a search that had nothing to choose from is kept and not told", async () => {
  const object = env.SESSION.get(env.SESSION.newUniqueId());
  await runInDurableObject(object, (_instance, { storage: { sql } }) => {
    createSchema(sql);
    for (let n = 1; n <= 11; n += 1) addTurn(sql, { id: `sevt_${n}`, seq: n });
    const { explanation } = found("m.md", 1);
    const nothing = { ...explanation, offered: 0, selected: [], source: "none" as const };
    const recalled = { explanation: nothing, candidates: [], shown: [], worthKeeping: true };
    recordRecall(sql, turn(1), recalled, 1);
    expect([hasRecall(sql, 1), readEvents(sql, { limit: 10 })]).toEqual([true, []]);
  });
});

test("a list of candidates that stays the same is kept once, and each search shows its own", async () => {
  const object = env.SESSION.get(env.SESSION.newUniqueId());
  await runInDurableObject(object, (_instance, { storage: { sql } }) => {
    createSchema(sql);
    for (let n = 1; n <= 5; n += 1) addTurn(sql, { id: `sevt_${n}`, seq: n });
    const many = Array.from({ length: 200 }, (_, n) => `a-memory-with-a-name-${n}.md`);
    const lists = [many, many, many.toReversed(), many.toReversed(), []];
    for (const [at, candidates] of lists.entries()) {
      recordRecall(sql, turn(at + 1), { ...found("m.md", 1), candidates }, 1);
    }
    const shown = listRecalls(sql, { after: 0, limit: 10 });
    expect(shown.map(({ body }) => body.candidates)).toEqual(lists);
    expect(Object.keys(shown[1]?.body ?? {})).not.toContain("candidates_of");
    const bytes = sql.exec<{ size: number }>("SELECT length(recall) AS size FROM turns").toArray();
    expect(bytes.map(({ size }) => size > 5_000)).toEqual([true, false, true, false, false]);
  });
});
