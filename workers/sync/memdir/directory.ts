// What the functions of this folder share: one directory's rows, its files in R2, and a clock.

import type { StoreMeta } from "../../../src/platform/objects/memdir-rpc.ts";
import type { FileStore } from "../../../src/shared/files/store.ts";
import type { SecretScan } from "../../../src/shared/safety/secret-scan.ts";

export interface Directory {
  sql: SqlStorage;
  /** The directory's part of the bucket. A refusal for rate fails at once: there is an outbox. */
  files: FileStore;
  meta: StoreMeta;
  scan: SecretScan;
  now(): number;
  /** One transaction; it wakes whoever waits for changes. */
  commit<T>(write: () => T): T;
  /** Lets the alarm empty the outbox soon. */
  later(): void;
}
