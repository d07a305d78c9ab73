// What the functions of this folder share: one directory's rows, its files in R2, and a clock.

import type { StoreMeta } from "../../../src/platform/objects/memdir-rpc.ts";
import { variablesOf } from "../../../src/platform/variables.ts";
import type { FileStore } from "../../../src/shared/files/store.ts";
import type { SecretScan } from "../../../src/shared/safety/secret-scan.ts";
import type { Leases } from "./leases.ts";

/** Sizes of the database, in bytes: `limits/memory.ts` has the reasons. */
export interface StoreSizes {
  /** From here on contents of the history move to R2. */
  spill: number;
  /** From here on nothing new is taken. */
  most: number;
}

/** Whether the database is so near the platform's limit that nothing new may come in. */
export function isStorageFull({ sql, sizes }: Pick<Directory, "sql" | "sizes">): boolean {
  return sql.databaseSize >= sizes.most;
}

/** The sizes that the variables give, which a laptop or a test may lower. */
export function sizesOf(env: object): StoreSizes {
  const { STORE_SPILL_BYTES: spill, STORE_MOST_BYTES: most } = variablesOf(env);
  return { spill, most };
}

export interface Directory {
  sql: SqlStorage;
  /** The directory's part of the bucket. A refusal for rate fails at once: there is an outbox. */
  files: FileStore;
  /** Contents that only the history refers to, in R2 below a prefix of their own, by sha256. */
  spilled: FileStore;
  sizes: StoreSizes;
  leases: Leases;
  meta: StoreMeta;
  scan: SecretScan;
  now(): number;
  /** One transaction; it wakes whoever waits for changes. */
  commit<T>(write: () => T): T;
  /** Does the rest of a change once its reply is on the way, or before anybody else uses the rows. */
  afterReply(rest: () => void): void;
  /** Lets the alarm do soon what is left: the outbox, a rewind, erasures, a database that is too large. */
  later(): void;
}
