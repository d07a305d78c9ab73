import { abortAllDurableObjects, env, runInDurableObject } from "cloudflare:test";
import { exports } from "cloudflare:workers";
import fc from "fast-check";
import { SignJWT } from "jose";
import { expect, test } from "vitest";
import { newId } from "../../../src/platform/ids.ts";
import { memdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { storeObjectName, userOwner } from "../../../src/platform/objects/store-owner.ts";
import { INDEX_FILE } from "../../../src/shared/memdir/entrypoint.ts";
import { parseIndex } from "../../../src/shared/memdir/index-lines.ts";
import { newStoreMeta } from "./meta-fixture.ts";
import {
  allVersions,
  lostOf,
  misattributed,
  type Order,
  PATHS,
  replay,
  runStorm,
  unconditional,
  unseenOf,
} from "./storm-fixture.ts";

declare global {
  namespace Cloudflare {
    interface GlobalProps {
      mainModule: typeof import("../../main.ts");
    }
    interface Env {
      STORM_OPERATIONS: string;
      STORM_SEED: string;
      AUTH_SECRET: string;
      MEMDIR: DurableObjectNamespace;
    }
  }
}

const OPERATIONS = Number(env.STORM_OPERATIONS);
const SEED = Number(env.STORM_SEED);

const order = fc.record({
  kind: fc.nat({ max: 99 }),
  path: fc.constantFrom(...PATHS),
  to: fc.constantFrom(...PATHS),
});

test("eight writers, changes from outside and kills: nothing acknowledged is lost, all agree in the end", {
  timeout: 900_000,
}, async () => {
  const orders = fc.array(order, { minLength: OPERATIONS, maxLength: OPERATIONS, size: "max" });
  await fc.assert(fc.asyncProperty(orders, weather), {
    numRuns: 1,
    seed: SEED,
    // A storm is a race: a smaller one is another one.
    endOnFailure: true,
  });
});

async function weather(orders: Order[]): Promise<void> {
  const id = newId("memstore");
  const prefix = `t/storm/u/ann/memory/projects/${id}/memory/`;
  const meta = newStoreMeta({ id, prefix, owner: userOwner({ tenant: "storm", user: "ann" }) });
  const stub = () => memdirStub(env, meta.owner, id);
  unwrap(await stub().open(meta));
  const token = await new SignJWT({ org: "storm" })
    .setProtectedHeader({ alg: "HS256" })
    .setSubject("ann")
    .setExpirationTime("1h")
    .sign(new TextEncoder().encode(env.AUTH_SECRET));
  const http = (method: string, path: string, body?: object) =>
    exports.default.fetch(`http://service/v1/memory_stores/${id}/memories${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  const kill = async () => {
    await abortAllDurableObjects();
  };
  const storm = await runStorm({ stub, bucket: env.FILES, prefix, http, kill }, orders);

  unwrap(await stub().importChanges());
  unwrap(await stub().reconcile({ type: "user", userId: "ann" }));
  await eventually(async () => {
    unwrap(await stub().importChanges());
    return (await sameAsR2(prefix, stub)) === undefined;
  });
  expect(await sameAsR2(prefix, stub)).toBeUndefined();

  const versions = await allVersions(stub());
  expect(lostOf(storm, versions)).toEqual([]);
  expect(unconditional(storm, versions)).toEqual([]);
  expect(unseenOf(storm, versions)).toEqual([]);
  expect(misattributed(versions)).toEqual([]);
  const object = env.MEMDIR.get(env.MEMDIR.idFromName(storeObjectName(meta.owner, id)));
  await runInDurableObject(object, (_instance, { storage }) => {
    expect(storage.sql.exec("SELECT * FROM intents").toArray()).toEqual([]);
    expect(storage.sql.exec("SELECT * FROM outbox").toArray()).toEqual([]);
  });
  expect(versions.map((version) => version.n)).toEqual(versions.map((_, index) => index + 1));
  const present = await heads(stub);
  expect(replay(versions)).toEqual(present);

  const files = [...present.keys()].filter((path) => path !== INDEX_FILE);
  const lines = parseIndex(present.get(INDEX_FILE) ?? "").map((line) => line.path);
  expect([...new Set(lines)].toSorted()).toEqual(files.toSorted());
  console.log(
    `storm, seed ${SEED}: ${storm.operations} operations, ${storm.acknowledged.length} acknowledged, ${storm.conflicts} conflicts, ${storm.failed} cut off, ${storm.replaced.length} foreign ones replaced, ${versions.length} versions`,
  );
}

async function heads(stub: () => ReturnType<typeof memdirStub>): Promise<Map<string, string>> {
  const { heads: list } = unwrap(await stub().list({ prefix: "", limit: 1000 }));
  const found = new Map<string, string>();
  for (const { path } of list) {
    const read = unwrap(await stub().read(path));
    found.set(path, read ? new TextDecoder().decode(read.bytes) : "");
  }
  return found;
}

/** What differs between R2 and the directory, if anything. */
async function sameAsR2(
  prefix: string,
  stub: () => ReturnType<typeof memdirStub>,
): Promise<string | undefined> {
  const inside = await heads(stub);
  const { objects } = await env.FILES.list({ prefix });
  for (const { key } of objects) {
    const object = await env.FILES.get(key);
    const text = object ? await object.text() : undefined;
    const path = key.slice(prefix.length);
    if (inside.get(path) !== text) return `${path} differs`;
    inside.delete(path);
  }
  return inside.size === 0 ? undefined : `${[...inside.keys()]} is not in R2`;
}

async function eventually(holds: () => Promise<boolean>): Promise<void> {
  for (let n = 0; n < 40; n += 1) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}
