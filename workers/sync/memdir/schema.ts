// The tables of one memory directory. `docs/storage.md` shows a row of each.

const TABLES = [
  // One row, JSON: what the store is called and where its files lie.
  "CREATE TABLE meta (id INTEGER PRIMARY KEY CHECK (id = 1), body TEXT NOT NULL, listed INTEGER NOT NULL)",
  // Every memory as it is now: what a scan needs, without its content.
  `CREATE TABLE heads (
    path TEXT PRIMARY KEY, id TEXT NOT NULL UNIQUE, n INTEGER NOT NULL, version TEXT NOT NULL,
    sha256 TEXT NOT NULL, size INTEGER NOT NULL, created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL, etag TEXT, type TEXT, name TEXT, description TEXT)`,
  "CREATE INDEX heads_by_time ON heads (updated_at DESC, path)",
  // Every change that was ever made, in order; the content of a head is that of its version.
  `CREATE TABLE versions (
    n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, memory_id TEXT NOT NULL,
    operation TEXT NOT NULL, path TEXT, sha256 TEXT, size INTEGER, content BLOB,
    actor TEXT NOT NULL, session_id TEXT, at INTEGER NOT NULL, redacted_at INTEGER,
    redacted_by TEXT)`,
  "CREATE INDEX versions_by_memory ON versions (memory_id, n)",
  "CREATE INDEX versions_by_session ON versions (session_id, n)",
  // What is about to be done in R2: put here before, taken away with the commit.
  `CREATE TABLE intents (
    id INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT NOT NULL, content BLOB)`,
  // Paths whose newest state R2 does not have yet, with the etag of what it has.
  "CREATE TABLE outbox (path TEXT PRIMARY KEY, etag TEXT, tries INTEGER NOT NULL)",
  // `token` only grows: a holder whose lease has passed on has an older one.
  `CREATE TABLE leases (
    name TEXT PRIMARY KEY, holder TEXT NOT NULL, token INTEGER NOT NULL, until INTEGER NOT NULL)`,
];

/** Whether this object holds a directory; asking leaves no trace. */
export function hasSchema(sql: SqlStorage): boolean {
  const found = sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'meta'");
  return found.toArray().length > 0;
}

/** Makes the tables, within the transaction that makes the directory. */
export function createSchema(sql: SqlStorage): void {
  for (const table of TABLES) sql.exec(table);
}
