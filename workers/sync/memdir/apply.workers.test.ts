// A save holds once it was acknowledged, whatever comes before its commit, and costs what it must.

import {
  abortAllDurableObjects,
  env,
  runDurableObjectAlarm,
  runInDurableObject,
} from "cloudflare:test";
import { beforeEach, describe, expect, test } from "vitest";
import type {
  MemdirStub,
  StoreMeta,
  WriteReply,
} from "../../../src/platform/objects/memdir-rpc.ts";
import { memdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import type { Reply } from "../../../src/platform/objects/reply.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { directoryOf, objectOf } from "./directory-fixture.ts";
import { actor, historyOf, putText } from "./history-fixture.ts";
import { Memdir } from "./memdir.ts";
import { newStoreMeta } from "./meta-fixture.ts";
import { watchedSql } from "./watched-sql-fixture.ts";
import { update, write } from "./write.ts";

let meta: StoreMeta;
let stub: MemdirStub;
beforeEach(async () => {
  meta = newStoreMeta();
  stub = memdirStub(env, meta.owner, meta.id);
  unwrap(await stub.open(meta));
});

test("a save is seen by whoever asks next, also before its commit", async () => {
  const { memoryId } = await putText(stub, "a.md", "first");
  await runInDurableObject(objectOf(meta), async (object) => {
    if (!(object instanceof Memdir)) throw new Error("It is another object");
    const ways: (() => Promise<string | null | undefined>)[] = [
      async () => unwrap(await object.read("a.md"))?.sha256,
      async () => unwrap(await object.readById(memoryId))?.sha256,
      async () => unwrap(await object.list({ prefix: "", limit: 1 })).heads[0]?.sha256,
      async () => unwrap(await object.scan(1))[0]?.sha256,
      async () => unwrap(await object.versions({ limit: 1, withContent: false }))[0]?.sha256,
      async () => unwrap(await object.changes(0, 100, 0)).at(-1)?.sha256,
      async () => {
        const reply = unwrap(await object.remove({ path: "a.md", ifMatch: "another", actor }));
        return reply.status === "conflict" ? reply.head.sha256 : reply.status;
      },
    ];
    for (const [n, look] of ways.entries()) {
      // In one event: no timer runs between the two.
      const reply = unwrap(await object.write({ path: "a.md", bytes: bytes(`text ${n}`), actor }));
      if (reply.status !== "written") throw new Error(reply.status);
      expect(await look(), `way ${n}`).toBe(reply.head.sha256);
      const version = unwrap(await object.version(reply.receipt.versionId));
      expect(version?.n).toBe(reply.receipt.n);
    }
  });
});

test("a save whose commit failed is finished by the next call, once", async () => {
  await putText(stub, "a.md", "one");
  await failCommits();
  const { versionId, n } = await putText(stub, "a.md", "two");
  await expect(async () => {
    await stub.read("a.md");
  }).rejects.toThrow("full");
  await letCommit();
  expect(await text("a.md")).toBe("two");
  expect(await historyOf(stub)).toEqual(["two", "one"]);
  expect(unwrap(await stub.version(versionId))).toMatchObject({ n });
  expect(await sql("SELECT * FROM intents")).toEqual([]);
  await putText(stub, "a.md", "three");
  expect(await historyOf(stub)).toEqual(["three", "two", "one"]);
});

describe("a save that was acknowledged, and whose object died before its commit,", () => {
  /** Acknowledged, and then the object dies. */
  const acknowledged = async (save: () => Promise<Reply<WriteReply>>) => {
    await failCommits();
    const reply = unwrap(await save());
    if (reply.status !== "written") throw new Error(reply.status);
    await abortAllDurableObjects();
    await letCommit();
    stub = memdirStub(env, meta.owner, meta.id);
    return reply;
  };
  const saveTwo = () => stub.write({ path: "a.md", bytes: bytes("two"), actor });

  test("is there afterwards as it was told", async () => {
    await putText(stub, "a.md", "one");
    const { receipt, head } = await acknowledged(saveTwo);
    expect(unwrap(await stub.head("a.md"))).toEqual(head);
    expect(unwrap(await stub.version(receipt.versionId))).toMatchObject({ n: receipt.n, actor });
    expect(await historyOf(stub)).toEqual(["two", "one"]);
    expect(unwrap(await stub.importChanges())).toEqual([]);
    const again = unwrap(await stub.write({ path: "a.md", bytes: bytes("two"), actor }));
    expect(again).toMatchObject({ status: "unchanged", receipt });
  });

  test("is a version before what somebody else put there meanwhile", async () => {
    await putText(stub, "a.md", "one");
    const { receipt } = await acknowledged(saveTwo);
    await env.FILES.put(`${meta.prefix}a.md`, "foreign");
    expect(unwrap(await stub.importChanges())).toMatchObject([{ path: "a.md", n: receipt.n + 1 }]);
    expect(await historyOf(stub)).toEqual(["foreign", "two", "one"]);
    expect(await text("a.md")).toBe("foreign");
  });

  test("is a version before the next save, with what somebody else put there in between", async () => {
    await putText(stub, "a.md", "one");
    await acknowledged(saveTwo);
    await env.FILES.put(`${meta.prefix}a.md`, "foreign");
    await putText(stub, "a.md", "three");
    expect(await historyOf(stub)).toEqual(["three", "foreign", "two", "one"]);
    expect(await inR2("a.md")).toBe("three");
  });

  test("is a version before its deletion in R2 by somebody else", async () => {
    await putText(stub, "a.md", "one");
    await acknowledged(saveTwo);
    await env.FILES.delete(`${meta.prefix}a.md`);
    expect(unwrap(await stub.importChanges())).toMatchObject([{ operation: "deleted" }]);
    expect(await historyOf(stub)).toEqual([undefined, "two", "one"]);
    expect(await text("a.md")).toBeUndefined();
  });

  test("stays moved, also where somebody changed it at its new place", async () => {
    const { memoryId: id } = await putText(stub, "a.md", "one");
    await acknowledged(() => stub.update({ id, path: "b.md", actor }));
    await env.FILES.put(`${meta.prefix}b.md`, "foreign");
    unwrap(await stub.importChanges());
    expect(await historyOf(stub)).toEqual(["foreign", "one", "one"]);
    await expectOnlyB(id);
  });
});

test("a move that died before the old file went leaves none of it behind", async () => {
  const { memoryId: id } = await putText(stub, "a.md", "one");
  let deleting = false;
  const cutOff = runInDurableObject(objectOf(meta), async (_instance, { storage }) => {
    const dir = directoryOf(meta, storage);
    const remove: typeof dir.files.delete = () => {
      deleting = true;
      return new Promise(() => {});
    };
    const files = { ...dir.files, delete: remove };
    return update({ ...dir, files }, { id, path: "b.md", actor });
  }).catch(() => "cut off");
  while (!deleting) await new Promise((resolve) => setTimeout(resolve, 1));
  await abortAllDurableObjects();
  expect(await cutOff).toBe("cut off");
  stub = memdirStub(env, meta.owner, meta.id);
  await env.FILES.put(`${meta.prefix}b.md`, "foreign");
  unwrap(await stub.importChanges());
  await expectOnlyB(id);
});

/** Nothing is at the old place, here or in R2, as soon as the alarm has run. */
async function expectOnlyB(id: string): Promise<void> {
  await runDurableObjectAlarm(objectOf(meta));
  unwrap(await stub.importChanges());
  const { heads } = unwrap(await stub.list({ prefix: "", limit: 10 }));
  expect(heads).toMatchObject([{ id, path: "b.md" }]);
  expect(await text("b.md")).toBe("foreign");
  expect(await inR2("a.md")).toBeUndefined();
  expect(await sql("SELECT * FROM outbox")).toEqual([]);
}

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

function failCommits(): Promise<unknown> {
  return sql(
    "CREATE TRIGGER full BEFORE INSERT ON versions BEGIN SELECT RAISE(ABORT, 'full'); END",
  );
}

function letCommit(): Promise<unknown> {
  return sql("DROP TRIGGER full");
}

async function text(path: string): Promise<string | undefined> {
  const found = unwrap(await stub.read(path));
  return found ? new TextDecoder().decode(found.bytes) : undefined;
}

async function inR2(path: string): Promise<string | undefined> {
  return (await env.FILES.get(meta.prefix + path))?.text();
}

function sql(query: string): Promise<unknown[]> {
  return runInDurableObject(objectOf(meta), (_instance, { storage }) =>
    storage.sql.exec(query).toArray(),
  );
}

function bytes(content: string): Uint8Array {
  return new TextEncoder().encode(content);
}
