// Who may run in the background: one at a time, and who waits is told in order, once. What was refused
// stays refused when the object has died and come back.

import { abortAllDurableObjects, env, runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import type {
  LeaseReply,
  MemdirStub,
  StoreMeta,
  WriteReply,
} from "../../../src/platform/objects/memdir-rpc.ts";
import { memdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { objectOf } from "./directory-fixture.ts";
import { createLeases } from "./leases.ts";
import { newStoreMeta } from "./meta-fixture.ts";

declare global {
  namespace Cloudflare {
    interface Env {
      MEMDIR: DurableObjectNamespace;
    }
  }
}

const LONG = 60_000;

test("who waits is named in the order of asking, each once, one at each return", async () => {
  const stub = await directory();
  let token = granted(await ask(stub, "a"));
  for (const waiter of ["b", "c", "b", "d", "c", "b"]) {
    expect(await ask(stub, waiter)).toMatchObject({ status: "held" });
  }
  for (const next of ["b", "c", "d"]) {
    expect(unwrap(await stub.release("extraction", token))).toBe(next);
    token = granted(await ask(stub, next));
  }
  expect(unwrap(await stub.release("extraction", token))).toBeNull();
});

test("who was named and asks again in vain waits behind the others", async () => {
  const stub = await directory();
  const first = granted(await ask(stub, "a"));
  await ask(stub, "b");
  await ask(stub, "c");
  expect(unwrap(await stub.release("extraction", first))).toBe("b");
  const quick = granted(await ask(stub, "d"));
  await ask(stub, "b");
  expect(unwrap(await stub.release("extraction", quick))).toBe("c");
  expect(unwrap(await stub.release("extraction", granted(await ask(stub, "c"))))).toBe("b");
});

test("who gets the lease waits no longer, also where it was never named", async () => {
  const stub = await directory();
  const first = granted(await ask(stub, "a"));
  expect(await ask(stub, "b")).toMatchObject({ status: "held" });
  await runOut(stub, first);
  const second = granted(await ask(stub, "b"));
  expect(second).not.toBe(first);
  expect(unwrap(await stub.release("extraction", second))).toBeNull();
});

test("a holder that lost the lease, or gave it back, names nobody and frees nothing", async () => {
  const stub = await directory();
  const stale = granted(await ask(stub, "a"));
  await runOut(stub, stale);
  const held = granted(await ask(stub, "b"));
  await ask(stub, "c");
  await ask(stub, "d");
  expect(unwrap(await stub.release("extraction", stale))).toBeNull();
  expect(unwrap(await stub.renew("extraction", stale, LONG))).toMatchObject({ status: "held" });
  expect(await ask(stub, "d")).toMatchObject({ status: "held" });
  expect(unwrap(await stub.release("extraction", held))).toBe("c");
  // The answer was lost on its way, and it is given back once more.
  expect(unwrap(await stub.release("extraction", held))).toBeNull();
  expect(unwrap(await stub.release("extraction", granted(await ask(stub, "c"))))).toBe("d");
});

test("one that ran out before it was given back still names who waits", async () => {
  const stub = await directory();
  const token = granted(await ask(stub, "a"));
  expect(await ask(stub, "b")).toMatchObject({ status: "held" });
  await runOut(stub, token);
  expect(unwrap(await stub.release("extraction", token))).toBe("b");
});

test("its own holder gets a lease again at once, and the older token writes nothing more", async () => {
  const stub = await directory();
  const before = granted(await ask(stub, "a"));
  const after = granted(await ask(stub, "a"));
  expect(after).not.toBe(before);
  await expectVoid(stub, before);
  expect(await write(stub, after)).toMatchObject({ status: "written" });
  unwrap(await stub.release("extraction", after));
  await expectVoid(stub, after);
});

test("the dream's lease and the extraction's know nothing of each other", async () => {
  const stub = await directory();
  const extraction = granted(await ask(stub, "a"));
  await ask(stub, "b");
  const dream = granted(unwrap(await stub.acquire("dream", "x", LONG, "x")));
  expect(unwrap(await stub.release("dream", dream))).toBeNull();
  expect(unwrap(await stub.release("extraction", extraction))).toBe("b");
});

test("a lease that is given back at once never touches the disk", async () => {
  const { meta, life } = await lives();
  const rows = () =>
    runInDurableObject(objectOf(meta), (_instance, { storage }) =>
      storage.sql.exec("SELECT * FROM leases").toArray(),
    );
  const token = granted(await ask(life(), "a"));
  expect(unwrap(await life().renew("extraction", token, LONG))).toMatchObject({ token });
  expect(await rows()).toEqual([]);
  unwrap(await life().release("extraction", token));
  expect(await rows()).toEqual([]);
});

test("a lease that a restart takes at once is void: its holder writes nothing more, others get it", async () => {
  const { life } = await lives();
  const token = granted(await ask(life(), "a"));
  await abortAllDurableObjects();
  await expectVoid(life(), token);
  const next = granted(await ask(life(), "b"));
  expect(next).not.toBe(token);
  await expectVoid(life(), token);
  expect(await write(life(), next)).toMatchObject({ status: "written" });
});

test("who waits is remembered over a restart, and so is whose the lease is", async () => {
  const { life } = await lives();
  const token = granted(await ask(life(), "a"));
  for (const waiter of ["b", "c"]) await ask(life(), waiter);
  await abortAllDurableObjects();
  expect(await ask(life(), "d")).toMatchObject({ status: "held" });
  expect(await write(life(), token)).toMatchObject({ status: "written" });
  expect(unwrap(await life().release("extraction", token))).toBe("b");
  await abortAllDurableObjects();
  await expectVoid(life(), token);
  const second = granted(await ask(life(), "b"));
  await abortAllDurableObjects();
  expect(unwrap(await life().release("extraction", second))).toBe("c");
});

test("one that is held for longer outlives a restart; given back, it is void after the next one", async () => {
  const { meta, life } = await lives();
  const token = await runInDurableObject(objectOf(meta), async (_instance, { storage }) => {
    const leases = createLeases(storage.sql, () => Date.now(), 1);
    const given = granted(leases.acquire("extraction", "a", LONG));
    while (storage.sql.exec("SELECT * FROM leases").toArray().length === 0) await pause();
    return given;
  });
  await abortAllDurableObjects();
  expect(await write(life(), token)).toMatchObject({ status: "written" });
  expect(unwrap(await life().renew("extraction", token, 2 * LONG))).toMatchObject({ token });
  expect(await ask(life(), "b")).toMatchObject({ status: "held" });
  expect(unwrap(await life().release("extraction", token))).toBe("b");
  await abortAllDurableObjects();
  await expectVoid(life(), token);
});

test("the row of a holder whose time ran out does not come back once the lease has passed on", async () => {
  const { life } = await lives();
  const stale = granted(await ask(life(), "a"));
  // Somebody waits: now it is on disk.
  await ask(life(), "b");
  await runOut(life(), stale);
  const held = granted(await ask(life(), "b"));
  await abortAllDurableObjects();
  await expectVoid(life(), stale);
  expect(await write(life(), held)).toMatchObject({ status: "written" });
});

test("a store that was deleted and made anew knows no lease of before", async () => {
  const { meta, life } = await lives();
  const token = granted(await ask(life(), "a"));
  await ask(life(), "b");
  unwrap(await life().destroy());
  unwrap(await life().open(meta));
  await expectVoid(life(), token);
  expect(unwrap(await life().release("extraction", granted(await ask(life(), "c"))))).toBeNull();
});

async function directory(): Promise<MemdirStub> {
  return (await lives()).life();
}

/** A store, and the way to its object as it is at that time: a kill breaks a stub. */
async function lives(): Promise<{ meta: StoreMeta; life: () => MemdirStub }> {
  const meta = newStoreMeta();
  const life = () => memdirStub(env, meta.owner, meta.id);
  unwrap(await life().open(meta));
  return { meta, life };
}

let written = 0;

async function write(stub: MemdirStub, token: number): Promise<WriteReply> {
  written += 1;
  const reply = await stub.write({
    path: "a.md",
    bytes: new TextEncoder().encode(`text ${written}`),
    actor: { type: "session", sessionId: "a", by: "extraction" },
    lease: { name: "extraction", token },
  });
  return unwrap(reply);
}

/** Nothing can be done under this token any more. */
async function expectVoid(stub: MemdirStub, token: number): Promise<void> {
  expect(await write(stub, token)).toMatchObject({ status: "refused", reason: "lease_lost" });
  expect(unwrap(await stub.renew("extraction", token, LONG))).toMatchObject({ status: "held" });
  expect(unwrap(await stub.release("extraction", token))).toBeNull();
}

async function ask(stub: MemdirStub, who: string): Promise<LeaseReply> {
  return unwrap(await stub.acquire("extraction", who, LONG, who));
}

function granted(reply: LeaseReply): number {
  if (reply.status !== "granted") throw new Error("It is somebody else's");
  return reply.token;
}

/** Its holder gives no sign of life until its time is over. */
async function runOut(stub: MemdirStub, token: number): Promise<void> {
  expect(unwrap(await stub.renew("extraction", token, 1)).status).toBe("granted");
  await pause();
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}
