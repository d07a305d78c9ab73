// The account's list of memory stores. What a store is like, only it knows itself; a row here says
// that there is one, or was about to be.

import type {
  RequestKey,
  StoreQuery,
  StoreRow,
} from "../../../src/platform/objects/account-rpc.ts";
import type { StoreKind } from "../../../src/platform/objects/memdir-rpc.ts";
import { MemdirError } from "../../../src/shared/errors.ts";
import { IDEMPOTENCY_MS } from "../../../src/shared/limits/http.ts";
import { refuseOtherBody } from "../rows/idempotency.ts";
import { createdPage } from "./created-page.ts";

type Stored = { id: string; kind: StoreKind; created_at: number; archived: number };

export function createStoreTables(sql: SqlStorage): void {
  sql.exec(
    `CREATE TABLE IF NOT EXISTS stores (
       id TEXT PRIMARY KEY, kind TEXT NOT NULL, created_at INTEGER NOT NULL,
       archived INTEGER NOT NULL DEFAULT 0)`,
  );
  sql.exec("CREATE INDEX IF NOT EXISTS stores_by_time ON stores (created_at, id)");
  sql.exec(
    `CREATE TABLE IF NOT EXISTS store_keys (
       key TEXT PRIMARY KEY, hash TEXT NOT NULL, store TEXT NOT NULL, created_at INTEGER NOT NULL)`,
  );
  sql.exec("CREATE INDEX IF NOT EXISTS store_keys_by_time ON store_keys (created_at)");
}

/**
 * Lists a store; one that is listed stays as it is. With a key that made a store before, that
 * store's row is the answer. Throws `conflict` where the key was used for another body or its store
 * was deleted. Within a transaction.
 */
export function addStore(sql: SqlStorage, row: StoreRow, request?: RequestKey): StoreRow {
  sql.exec("DELETE FROM store_keys WHERE created_at < ?", row.createdAt - IDEMPOTENCY_MS);
  if (request) {
    const earlier = earlierStore(sql, request);
    if (earlier) return earlier;
    sql.exec(
      "INSERT INTO store_keys (key, hash, store, created_at) VALUES (?, ?, ?, ?)",
      request.key,
      request.hash,
      row.id,
      row.createdAt,
    );
  }
  sql.exec(
    "INSERT OR IGNORE INTO stores (id, kind, created_at, archived) VALUES (?, ?, ?, ?)",
    row.id,
    row.kind,
    row.createdAt,
    row.archived ? 1 : 0,
  );
  return storeOf(sql, row.id) ?? row;
}

/** Newest first. */
export function listStores(sql: SqlStorage, query: StoreQuery): StoreRow[] {
  const condition = query.includeArchived ? "1" : "archived = 0";
  const { clause, values } = createdPage(condition, { ...query, order: "desc" });
  return sql
    .exec<Stored>(`SELECT id, kind, created_at, archived FROM stores ${clause}`, ...values)
    .toArray()
    .map(rowOf);
}

function earlierStore(sql: SqlStorage, request: RequestKey): StoreRow | undefined {
  const [key] = sql
    .exec<{ hash: string; store: string }>(
      "SELECT hash, store FROM store_keys WHERE key = ?",
      request.key,
    )
    .toArray();
  if (!key) return undefined;
  refuseOtherBody(request, key.hash);
  const row = storeOf(sql, key.store);
  if (row) return row;
  throw new MemdirError(
    "conflict",
    "The memory store that this Idempotency-Key made was deleted. Use a new key for a new store",
  );
}

function storeOf(sql: SqlStorage, id: string): StoreRow | undefined {
  return sql
    .exec<Stored>("SELECT id, kind, created_at, archived FROM stores WHERE id = ?", id)
    .toArray()
    .map(rowOf)[0];
}

function rowOf({ id, kind, created_at, archived }: Stored): StoreRow {
  return { id, kind, createdAt: created_at, archived: archived === 1 };
}
