// The tables of one memory directory. `docs/storage.md` shows a row of each.

import { hasTable } from "../../../src/platform/sql.ts";
import { REDACTIONS_TABLE } from "./losses.ts";

const TABLES = [
  // One row, JSON: what the store is, and where its files lie.
  "CREATE TABLE meta (id INTEGER PRIMARY KEY CHECK (id = 1), body TEXT NOT NULL, listed INTEGER NOT NULL)",
  // Every memory as it is now: what a scan needs, without its content. Its id leads here through its
  // last version. `about` and `said`: hashes of description and body, as sameness sees them. They have no
  // index: few writes ask for them, and every write would pay for one.
  `CREATE TABLE heads (
    path TEXT PRIMARY KEY, id TEXT NOT NULL, n INTEGER NOT NULL, version TEXT NOT NULL,
    content INTEGER NOT NULL, sha256 TEXT NOT NULL, size INTEGER NOT NULL,
    created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, etag TEXT, type TEXT, name TEXT,
    description TEXT, about INTEGER, said INTEGER) WITHOUT ROWID`,
  "CREATE INDEX heads_by_time ON heads (updated_at DESC, path)",
  // Every change ever, in order; none ever leaves, so no number comes again. `at` never falls as `n`
  // grows, so a time is found by bisection. `gone` is the path at which nothing is any more after it.
  `CREATE TABLE versions (
    n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, memory_id TEXT NOT NULL,
    operation TEXT NOT NULL, path TEXT, gone TEXT, content INTEGER, sha256 TEXT, size INTEGER,
    actor TEXT NOT NULL, session_id TEXT, at INTEGER NOT NULL, redacted_at INTEGER, redacted_by TEXT)`,
  // Each index ends with `n` by itself.
  "CREATE INDEX versions_by_memory ON versions (memory_id)",
  "CREATE INDEX versions_by_session ON versions (session_id) WHERE session_id IS NOT NULL",
  "CREATE INDEX versions_by_loss ON versions (gone) WHERE gone IS NOT NULL",
  "CREATE INDEX versions_by_content ON versions (sha256) WHERE sha256 IS NOT NULL",
  // Each content once, whatever refers to it; one that has moved to R2 has no row. The newest version
  // with a sha256 knows the number. A number that is free again may go to another content.
  "CREATE TABLE contents (n INTEGER PRIMARY KEY, sha256 TEXT NOT NULL, bytes BLOB NOT NULL)",
  // Contents that a redaction took out of the rows, until R2 has none of them either.
  "CREATE TABLE erasures (sha256 TEXT PRIMARY KEY) WITHOUT ROWID",
  REDACTIONS_TABLE,
  // What this object is about to do in R2: a row comes before it, and goes with the commit.
  "CREATE TABLE intents (id INTEGER PRIMARY KEY, body TEXT NOT NULL)",
  // A rewind whose answer nobody has yet: who wants to go back where (JSON), and the newest version
  // before it. A step a memory, with the version to go back to and, once it is done, the one it made.
  `CREATE TABLE rewinds (
    id INTEGER PRIMARY KEY CHECK (id = 1), actor TEXT NOT NULL, target TEXT NOT NULL,
    since INTEGER NOT NULL)`,
  `CREATE TABLE rewind_steps (
    n INTEGER PRIMARY KEY, memory_id TEXT NOT NULL, path TEXT NOT NULL, target INTEGER,
    aside INTEGER NOT NULL, done INTEGER NOT NULL DEFAULT 0, made INTEGER)`,
  // Paths whose newest state R2 does not have yet, with the etag of what it has. `erased`: the sha256 of
  // redacted contents that it may have there, JSON. No version tells any more that they are ours.
  `CREATE TABLE outbox (
    path TEXT PRIMARY KEY, etag TEXT, erased TEXT NOT NULL DEFAULT '[]') WITHOUT ROWID`,
  // A lease that somebody holds for longer, or waits for: `waiters` is JSON, in the order of asking.
  `CREATE TABLE leases (
    name TEXT PRIMARY KEY, holder TEXT, token INTEGER NOT NULL, until INTEGER NOT NULL,
    waiters TEXT NOT NULL) WITHOUT ROWID`,
];

/** Whether this object holds a directory; asking leaves no trace. */
export function hasSchema(sql: SqlStorage): boolean {
  return hasTable(sql, "meta");
}

/** Makes the tables of a new directory. */
export function createSchema(sql: SqlStorage): void {
  for (const table of TABLES) sql.exec(table);
}
