// What the queue brings to an extraction: calls that are doubled, late, early, or given up.

import { expect, test } from "vitest";
import type { ExtractReply } from "../../../src/platform/objects/session-rpc.ts";
import { readExtraction } from "../rows/extraction-state.ts";
import { listRuns } from "../rows/runs.ts";
import {
  endedTurn,
  inside,
  session,
  withExtractions,
  withModel,
} from "../testing/extraction-life-fixture.ts";
import { outcomesOf, seedIndex } from "../testing/extraction-saved-fixture.ts";
import { model, server } from "../testing/fork-model-fixture.ts";
import { stub } from "../testing/session-object-fixture.ts";
import { dropBatch } from "./extract.ts";

withExtractions();

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
  server.answers = [{ text: "Nothing new." }];
  await inside(id, async (life) => {
    for (let n = 0; n < 45; n += 1) endedTurn(life.sql, `What is ${n} and ${n}?`);
    const cursors: number[] = [];
    for (let reply: ExtractReply = { status: "done", next: null }; reply.status === "done"; ) {
      ({ reply } = await life.run());
      cursors.push(readExtraction(life.sql).cursor);
    }
    // The return of the last lease is on disk with the next change: each run here is a new instance.
    expect([...new Set(cursors)]).toEqual([20, 40, 45]);
    const tasks = model.requests.map(
      (request) => /<look_from>(.*?)<\/look_from>/.exec(JSON.stringify(request.body))?.[1],
    );
    expect(tasks).toEqual([0, 20, 40].map((n) => `What is ${n} and ${n}?`));
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
    server.atModel = (answer) => {
      dropBatch(life.ports());
      return answer();
    };
    await life.run();
    expect(outcomesOf(life.sql)).toMatchObject([{ type: "memory.skipped", reason: "failed" }]);
    expect(readExtraction(life.sql)).toMatchObject({ cursor: 1, lease: null });
    await life.expectFree();
  });
});
