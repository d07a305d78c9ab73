// Who may run in the background: one at a time, and who waits is told in order, once.

import { env } from "cloudflare:test";
import { expect, test } from "vitest";
import type { LeaseReply, MemdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { memdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
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
  expect(second).toBeGreaterThan(first);
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
  expect(after).toBe(before + 1);
  const write = (token: number) =>
    stub.write({
      path: "a.md",
      bytes: new TextEncoder().encode("x"),
      actor: { type: "session", sessionId: "a", by: "extraction" },
      lease: { name: "extraction", token },
    });
  const refused = { status: "refused", reason: "lease_lost" };
  expect(unwrap(await write(before))).toMatchObject(refused);
  expect(unwrap(await stub.release("extraction", before))).toBeNull();
  expect(unwrap(await write(after))).toMatchObject({ status: "written" });
  unwrap(await stub.release("extraction", after));
  expect(unwrap(await write(after))).toMatchObject(refused);
});

test("the dream's lease and the extraction's know nothing of each other", async () => {
  const stub = await directory();
  const extraction = granted(await ask(stub, "a"));
  await ask(stub, "b");
  const dream = granted(unwrap(await stub.acquire("dream", "x", LONG, "x")));
  expect(unwrap(await stub.release("dream", dream))).toBeNull();
  expect(unwrap(await stub.release("extraction", extraction))).toBe("b");
});

async function directory(): Promise<MemdirStub> {
  const meta = newStoreMeta();
  const stub = memdirStub(env, meta.owner, meta.id);
  unwrap(await stub.open(meta));
  return stub;
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
  await new Promise((resolve) => setTimeout(resolve, 5));
}
