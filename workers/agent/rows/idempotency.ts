// Keys of `Idempotency-Key`: the reply of a request is kept with its effect, in one transaction, so
// a key either has both or can be used again.

import type { RequestKey } from "../../../src/platform/objects/account-rpc.ts";
import { MemdirError } from "../../../src/shared/errors.ts";
import { IDEMPOTENCY_MS } from "../../../src/shared/limits/http.ts";

/** One of the tables of a session; old rows are cleared with every send, by their time. */
export const KEYS_TABLES = [
  `CREATE TABLE IF NOT EXISTS keys (
    key TEXT PRIMARY KEY, hash TEXT NOT NULL, reply TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID`,
  "CREATE INDEX IF NOT EXISTS keys_by_time ON keys (at)",
];

/** The reply that this key already got. Throws `conflict` where it was used for another body. */
export function earlierReply(sql: SqlStorage, request: RequestKey | undefined): string | undefined {
  if (!request) return undefined;
  const [row] = sql
    .exec<{ hash: string; reply: string }>(
      "SELECT hash, reply FROM keys WHERE key = ?",
      request.key,
    )
    .toArray();
  if (!row) return undefined;
  refuseOtherBody(request, row.hash);
  return row.reply;
}

/** Throws `conflict` where a key, kept with this hash, comes with another body. */
export function refuseOtherBody(request: RequestKey, hash: string): void {
  if (request.hash === hash) return;
  throw new MemdirError(
    "conflict",
    "This Idempotency-Key was used with another body. Use a new key for a new request",
  );
}

/** Keeps the reply of a request. Within the transaction of its effect. */
export function keepReply(
  sql: SqlStorage,
  request: RequestKey | undefined,
  reply: string,
  now: number,
): void {
  sql.exec("DELETE FROM keys WHERE at < ?", now - IDEMPOTENCY_MS);
  if (!request) return;
  sql.exec(
    "INSERT OR REPLACE INTO keys (key, hash, reply, at) VALUES (?, ?, ?, ?)",
    request.key,
    request.hash,
    reply,
    now,
  );
}
