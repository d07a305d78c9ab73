// A compaction that is asked for while nothing runs.

import { expect, test } from "vitest";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { readSize } from "../../../src/platform/threads/size.ts";
import {
  keepResultsOf,
  storedResultsMount,
  storeResult,
} from "../../../src/platform/threads/stored-results.ts";
import { STORED_DIRECTORY } from "../../../src/shared/loop/stored-result.ts";
import { forkThread, mainThread } from "../rows/session-threads.ts";
import { eventually } from "../testing/eventually-fixture.ts";
import { inside, model, session, withModel, withNotes } from "../testing/notes-life-fixture.ts";
import { stub } from "../testing/session-object-fixture.ts";

withNotes();

test("a conversation that ends with the model's words is counted as one that could be sent", async () => {
  const id = await session();
  await withModel(id, { EXTRACTION_EVERY_TURNS: "0" });
  for (const words of ["one", "two", "three"]) {
    const content = [{ type: "text" as const, text: `${words} ${"and more ".repeat(2000)}` }];
    unwrap(await stub(id).send([{ type: "user.message", content }], undefined));
    await eventually(async () => unwrap(await stub(id).retrieve()).status === "idle");
  }
  expect(unwrap(await stub(id).compact())).toMatchObject({ status: "compacted" });
  const counts = model.requests.filter(({ path }) => path.endsWith("count_tokens"));
  expect(counts.map(({ status, error }) => error ?? status)).toEqual(counts.map(() => 200));
  expect(counts.length).toBeGreaterThan(0);
  await inside(id, ({ sql }) => expect(readSize(mainThread(sql)).counted).toBeGreaterThan(0));
});

test("GROW-06: a kept result goes when no entry of the view names it, and only that of its thread", async () => {
  const id = await session();
  await withModel(id, { EXTRACTION_EVERY_TURNS: "0" });
  for (const words of ["one", "two"]) {
    const content = [{ type: "text" as const, text: `${words} ${"and more ".repeat(2000)}` }];
    unwrap(await stub(id).send([{ type: "user.message", content }], undefined));
    await eventually(async () => unwrap(await stub(id).retrieve()).status === "idle");
  }
  const path = (name: string) => `${STORED_DIRECTORY}/${name}.txt`;
  const names = (sql: SqlStorage) =>
    storedResultsMount(sql)
      .store.list({ prefix: "", limit: 10 })
      .then(({ entries }) => entries.map((entry) => entry.path));
  await inside(id, async ({ sql }) => {
    const [main, fork] = [mainThread(sql), forkThread(sql, 9)];
    storeResult(main, { path: path("a"), content: "boats" }, 1);
    storeResult(main, { path: path("b"), content: "tides" }, 1);
    storeResult(fork, { path: path("c"), content: "notes" }, 1);
    const stored = [{ callId: "toolu_b", path: path("b") }];
    const message = { role: "user" as const, content: [] };
    keepResultsOf(main, [{ n: 1, turn: 1, origin: { type: "results", stored }, message }]);
    expect(await names(sql)).toEqual(["b.txt", "c.txt"]);
  });
  expect(unwrap(await stub(id).compact())).toMatchObject({ status: "compacted" });
  await inside(id, async ({ sql }) => expect(await names(sql)).toEqual(["c.txt"]));
});
