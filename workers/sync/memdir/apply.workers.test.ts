// A change that fails half way is finished by the next call, and a save costs what it must.

import { env, runInDurableObject } from "cloudflare:test";
import { beforeEach, expect, test } from "vitest";
import type { MemdirStub, StoreMeta } from "../../../src/platform/objects/memdir-rpc.ts";
import { memdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { directoryOf, objectOf } from "./directory-fixture.ts";
import { actor, historyOf, putText } from "./history-fixture.ts";
import { newStoreMeta } from "./meta-fixture.ts";
import { watchedSql } from "./watched-sql-fixture.ts";
import { write } from "./write.ts";

let meta: StoreMeta;
let stub: MemdirStub;
beforeEach(async () => {
  meta = newStoreMeta();
  stub = memdirStub(env, meta.owner, meta.id);
  unwrap(await stub.open(meta));
});

test("a save whose commit failed is finished by the next call, once", async () => {
  await putText(stub, "a.md", "one");
  await sql("CREATE TRIGGER full BEFORE INSERT ON versions BEGIN SELECT RAISE(ABORT, 'full'); END");
  await expect(async () => {
    await stub.write({ path: "a.md", bytes: bytes("two"), actor });
  }).rejects.toThrow("full");
  await sql("DROP TRIGGER full");
  const found = unwrap(await stub.read("a.md"));
  expect(new TextDecoder().decode(found?.bytes)).toBe("two");
  expect(await historyOf(stub)).toEqual(["two", "one"]);
  expect(await sql("SELECT * FROM intents")).toEqual([]);
  await putText(stub, "a.md", "three");
  expect(await historyOf(stub)).toEqual(["three", "two", "one"]);
});

test("a save is two commits of nine rows, and of ten where a session makes it", async () => {
  await putText(stub, "first.md", "first");
  const session = { type: "session", sessionId: "s", by: "agent" } as const;
  for (const [by, most] of [
    [actor, 9],
    [session, 10],
  ] as const) {
    await runInDurableObject(objectOf(meta), async (_instance, { storage }) => {
      const cost = { commits: 0, rows: 0 };
      const dir = directoryOf(meta, storage);
      const counted = {
        ...dir,
        sql: watchedSql(dir.sql, ({ rowsWritten }) => {
          cost.rows += rowsWritten;
        }),
        commit: <T>(change: () => T) => {
          cost.commits += 1;
          return dir.commit(change);
        },
      };
      const request = { path: `${by.type}.md`, bytes: bytes(by.type), actor: by };
      expect(await write(counted, request)).toMatchObject({ status: "written" });
      expect(cost).toEqual({ commits: 2, rows: most });
    });
  }
});

function sql(query: string): Promise<unknown[]> {
  return runInDurableObject(objectOf(meta), (_instance, { storage }) =>
    storage.sql.exec(query).toArray(),
  );
}

function bytes(content: string): Uint8Array {
  return new TextEncoder().encode(content);
}
