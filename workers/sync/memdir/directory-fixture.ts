import { env } from "cloudflare:test";
import type { StoreMeta } from "../../../src/platform/objects/memdir-rpc.ts";
import { storeObjectName } from "../../../src/platform/objects/store-owner.ts";
import { historyPrefix, storeFiles } from "../../../src/platform/r2/mount-table.ts";
import type { Directory } from "./directory.ts";
import { createLeases } from "./leases.ts";

/** The object of a store, to look into and to kill. */
export function objectOf({ owner, id }: StoreMeta): DurableObjectStub {
  return env.MEMDIR.get(env.MEMDIR.idFromName(storeObjectName(owner, id)));
}

/** A directory over the rows of a real object, with what a test has in place of a part of it. */
export function directoryOf(
  meta: StoreMeta,
  storage: DurableObjectStorage,
  parts: Partial<Directory> = {},
): Directory {
  const now = () => Date.now();
  return {
    sql: storage.sql,
    files: storeFiles(env.FILES, meta.prefix),
    spilled: storeFiles(env.FILES, historyPrefix(meta.owner, meta.id)),
    sizes: { spill: 1e9, most: 1e9 },
    leases: createLeases(storage.sql, now),
    meta,
    scan: async () => [],
    now,
    commit: (change) => storage.transactionSync(change),
    afterReply: (rest) => rest(),
    later: () => {},
    ...parts,
  };
}
