// A compaction that is asked for while nothing runs.

import { expect, test } from "vitest";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { readSize } from "../../../src/platform/threads/size.ts";
import { mainThread } from "../rows/session-threads.ts";
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
