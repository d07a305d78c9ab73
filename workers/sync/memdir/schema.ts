// The tables of one memory directory. `docs/storage.md` shows a row of each.

import { hasTable } from "../../../src/platform/sql.ts";

const TABLES = [
  // One row, JSON: what the store is, and where its files lie.
  "CREATE TABLE meta (id INTEGER PRIMARY KEY CHECK (id = 1), body TEXT NOT NULL, listed INTEGER NOT NULL)",
  // Every memory as it is now: what a scan needs, without its content.
  `CREATE TABLE heads (
    path TEXT PRIMARY KEY, id TEXT NOT NULL UNIQUE, n INTEGER NOT NULL, version TEXT NOT NULL,
    sha256 TEXT NOT NULL, size INTEGER NOT NULL, created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL, etag TEXT, type TEXT, name TEXT, description TEXT)`,
  "CREATE INDEX heads_by_time ON heads (updated_at DESC, path)",
  "CREATE INDEX heads_by_content ON heads (sha256)",
  // Every change ever, in order. `at` never falls as `n` grows, so a time is found by bisection.
  `CREATE TABLE versions (
    n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, memory_id TEXT NOT NULL,
    operation TEXT NOT NULL, path TEXT, sha256 TEXT, size INTEGER, actor TEXT NOT NULL,
    session_id TEXT, at INTEGER NOT NULL, redacted_at INTEGER, redacted_by TEXT)`,
  "CREATE INDEX versions_by_memory ON versions (memory_id, n)",
  "CREATE INDEX versions_by_session ON versions (session_id, n) WHERE session_id IS NOT NULL",
  "CREATE INDEX versions_by_path ON versions (path, n)",
  "CREATE INDEX versions_by_content ON versions (sha256) WHERE sha256 IS NOT NULL",
  // Each content once, whatever refers to it. `bytes` is NULL where it has moved to R2.
  `CREATE TABLE contents (
    n INTEGER PRIMARY KEY AUTOINCREMENT, sha256 TEXT NOT NULL UNIQUE, size INTEGER NOT NULL,
    bytes BLOB)`,
  "CREATE INDEX contents_here ON contents (n, sha256) WHERE bytes IS NOT NULL",
  // Contents that a redaction took out of the rows, until R2 has none of them either.
  "CREATE TABLE erasures (sha256 TEXT PRIMARY KEY) WITHOUT ROWID",
  // What this object is about to do in R2: a row comes before it, and goes with the commit.
  "CREATE TABLE intents (id INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT NOT NULL)",
  // A rewind under way, and what is left of it: a step a memory, with the version to go back to.
  "CREATE TABLE rewinds (id INTEGER PRIMARY KEY CHECK (id = 1), actor TEXT NOT NULL)",
  `CREATE TABLE rewind_steps (
    n INTEGER PRIMARY KEY AUTOINCREMENT, memory_id TEXT NOT NULL, path TEXT NOT NULL,
    target INTEGER, aside INTEGER NOT NULL)`,
  // Paths whose newest state R2 does not have yet, with the etag of what it has.
  "CREATE TABLE outbox (path TEXT PRIMARY KEY, etag TEXT, tries INTEGER NOT NULL)",
  // `token` only grows: a holder whose lease has passed on has an older one.
  `CREATE TABLE leases (
    name TEXT PRIMARY KEY, holder TEXT NOT NULL, token INTEGER NOT NULL, until INTEGER NOT NULL)`,
  // Who asked for a lease that somebody held, in order; its holder tells the first one.
  `CREATE TABLE lease_waiters (
    n INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, waiter TEXT NOT NULL, UNIQUE (name, waiter))`,
];

/** Whether this object holds a directory; asking leaves no trace. */
export function hasSchema(sql: SqlStorage): boolean {
  return hasTable(sql, "meta");
}

/** Makes the tables of a new directory. */
export function createSchema(sql: SqlStorage): void {
  for (const table of TABLES) sql.exec(table);
}
