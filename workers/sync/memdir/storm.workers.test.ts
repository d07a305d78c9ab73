import { abortAllDurableObjects, env } from "cloudflare:test";
import { expect, test } from "vitest";
import { newId } from "../../../src/platform/ids.ts";
import { memdirStub, type StoreMeta } from "../../../src/platform/memdir-rpc.ts";
import { unwrap } from "../../../src/platform/reply.ts";
import { INDEX_FILE } from "../../../src/shared/memdir/entrypoint.ts";
import { parseIndex } from "../../../src/shared/memdir/index-lines.ts";
import { allVersions, replay, runStorm } from "./storm-fixture.ts";

declare global {
  namespace Cloudflare {
    interface Env {
      STORM_OPERATIONS: string;
      STORM_SEED: string;
    }
  }
}

const OPERATIONS = Number(env.STORM_OPERATIONS);
const SEED = Number(env.STORM_SEED);

test("eight writers, changes from outside and kills: nothing acknowledged is lost, all agree in the end", {
  timeout: 900_000,
}, async () => {
  const id = newId("memstore");
  const owner = { tenant: "storm", user: "ann" };
  const prefix = `t/storm/u/ann/memory/projects/${id}/memory/`;
  const now = Date.now();
  const meta: StoreMeta = {
    ...owner,
    id,
    prefix,
    kind: "auto",
    name: "storm",
    description: "",
    metadata: {},
    createdAt: now,
    updatedAt: now,
    archivedAt: null,
  };
  const stub = () => memdirStub(env, owner, id);
  unwrap(await stub().open(meta));
  const random = generator(SEED);
  const kill = async () => {
    await abortAllDurableObjects();
  };
  const storm = await runStorm({ stub, bucket: env.FILES, prefix, kill, random }, OPERATIONS);

  unwrap(await stub().takeIn());
  unwrap(await stub().reconcile({ type: "user", userId: "ann" }));
  await settle(async () => {
    unwrap(await stub().takeIn());
    return (await sameAsR2(prefix, stub)) === undefined;
  });
  expect(await sameAsR2(prefix, stub)).toBeUndefined();

  const versions = await allVersions(stub());
  const byId = new Map(versions.map((version) => [version.id, version]));
  const lost = storm.acknowledged.filter(({ receipt, text }) => {
    const version = byId.get(receipt.versionId);
    const kept = version?.bytes ? new TextDecoder().decode(version.bytes) : undefined;
    return !version || kept !== text;
  });
  expect(lost).toEqual([]);
  expect(versions.map((version) => version.n)).toEqual(versions.map((_, index) => index + 1));
  expect(replay(versions)).toEqual(await heads(stub));

  const index = (await heads(stub)).get(INDEX_FILE) ?? "";
  const files = [...(await heads(stub)).keys()].filter((path) => path !== INDEX_FILE);
  const lines = parseIndex(index).map((line) => line.path);
  expect(lines.toSorted()).toEqual(files.toSorted());
  console.log(
    `storm, seed ${SEED}: ${storm.operations} operations, ${storm.acknowledged.length} acknowledged, ${storm.conflicts} conflicts, ${storm.failed} cut off, ${versions.length} versions`,
  );
});

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

async function settle(holds: () => Promise<boolean>): Promise<void> {
  for (let n = 0; n < 40; n += 1) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

/** A small generator of numbers from 0 to 1 (mulberry32), so that a seed repeats a storm. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
