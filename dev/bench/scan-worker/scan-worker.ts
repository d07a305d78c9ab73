// Fills a directory and times the ways of listing what is in it, inside workerd.

import {
  type MemdirStub,
  memdirStub,
  type StoreMeta,
} from "../../../src/platform/objects/memdir-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { userOwner } from "../../../src/platform/objects/store-owner.ts";
import { parseHead } from "../../../src/shared/memdir/entry.ts";
import type { SyncEnv } from "../../../workers/env.ts";

export { Account } from "../../../workers/agent/account/account.ts";
export { Memdir } from "../../../workers/sync/memdir/memdir.ts";

interface Row {
  way: string;
  ms: number;
  calls: number;
  found: number;
}

export default {
  async fetch(request, env) {
    const query = new URL(request.url).searchParams;
    const count = Number(query.get("count"));
    const rounds = Number(query.get("rounds"));
    const prefix = `t/bench/u/bench/memory/projects/n${count}/memory/`;
    const stub = await fill(env, prefix, count);
    const ways: [string, () => Promise<[found: number, calls: number]>][] = [
      ["ours", async () => [unwrap(await stub.scan(count)).length, 0]],
      ["list with metadata", () => listed(env.FILES, prefix, true)],
      ["list plus heads", () => heads(env.FILES, prefix)],
      ["list plus reads", () => reads(env.FILES, prefix)],
    ];
    const rows: Row[] = [];
    for (const [way, run] of ways) {
      const times: number[] = [];
      let [found, calls] = [0, 0];
      for (let round = 0; round < rounds; round += 1) {
        const from = performance.now();
        [found, calls] = await run();
        times.push(performance.now() - from);
      }
      const ms = times.toSorted((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0;
      rows.push({ way, ms, calls, found });
    }
    return Response.json(rows);
  },
} satisfies ExportedHandler<SyncEnv>;

async function fill(env: SyncEnv, prefix: string, count: number): Promise<MemdirStub> {
  const owner = userOwner({ tenant: "bench", user: "bench" });
  const id = `memstore_${String(count).padStart(24, "1")}`;
  const meta: StoreMeta = {
    owner,
    id,
    prefix,
    kind: "auto",
    name: "bench",
    description: "",
    metadata: {},
    createdAt: 1,
    updatedAt: 1,
    archivedAt: null,
  };
  for (let n = 0; n < count; n += 1) {
    const text = `---\nname: memory ${n}\ndescription: what is known of subject ${n} of ${count}\ntype: project\n---\n${"A line of the body.\n".repeat(80)}`;
    const customMetadata = { type: "project", description: `what is known of subject ${n}` };
    await env.FILES.put(`${prefix}memory-${n}.md`, text, { customMetadata });
  }
  const stub = memdirStub(env, owner, id);
  unwrap(await stub.open(meta));
  unwrap(await stub.importChanges());
  return stub;
}

async function keysOf(bucket: R2Bucket, prefix: string, include: boolean) {
  const objects: R2Object[] = [];
  let calls = 0;
  let cursor: string | undefined;
  do {
    const page = await bucket.list({
      prefix,
      ...(include ? { include: ["customMetadata"] as const } : {}),
      ...(cursor === undefined ? {} : { cursor }),
    } as R2ListOptions);
    calls += 1;
    objects.push(...page.objects);
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor !== undefined);
  return { objects, calls };
}

async function listed(
  bucket: R2Bucket,
  prefix: string,
  include: boolean,
): Promise<[number, number]> {
  const { objects, calls } = await keysOf(bucket, prefix, include);
  return [objects.length, calls];
}

async function heads(bucket: R2Bucket, prefix: string): Promise<[number, number]> {
  const { objects, calls } = await keysOf(bucket, prefix, false);
  await inSixes(objects, (object) => bucket.head(object.key));
  return [objects.length, calls + objects.length];
}

async function reads(bucket: R2Bucket, prefix: string): Promise<[number, number]> {
  const { objects, calls } = await keysOf(bucket, prefix, false);
  const found = await inSixes(objects, async ({ key }) => {
    const text = await (await bucket.get(key))?.text();
    return text === undefined ? undefined : parseHead(text).description;
  });
  return [found.filter((one) => one !== undefined).length, calls + objects.length];
}

/** Six at a time: what an invocation may have open. */
async function inSixes<T, R>(items: T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let n = 0; n < items.length; n += 6) {
    results.push(...(await Promise.all(items.slice(n, n + 6).map(work))));
  }
  return results;
}
