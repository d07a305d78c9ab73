// The tables of one memory directory. `docs/storage.md` shows a row of each.

const TABLES = [
  // One row, JSON: what the store is, and where its files lie.
  "CREATE TABLE IF NOT EXISTS meta (id INTEGER PRIMARY KEY CHECK (id = 1), body TEXT NOT NULL, listed INTEGER NOT NULL)",
  // Every memory as it is now: what a scan needs, without its content.
  `CREATE TABLE IF NOT EXISTS heads (
    path TEXT PRIMARY KEY, id TEXT NOT NULL UNIQUE, n INTEGER NOT NULL, version TEXT NOT NULL,
    sha256 TEXT NOT NULL, size INTEGER NOT NULL, created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL, etag TEXT, type TEXT, name TEXT, description TEXT)`,
  "CREATE INDEX IF NOT EXISTS heads_by_time ON heads (updated_at DESC, path)",
  // Every change ever, in order; the content of a head is that of its version.
  `CREATE TABLE IF NOT EXISTS versions (
    n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, memory_id TEXT NOT NULL,
    operation TEXT NOT NULL, path TEXT, sha256 TEXT, size INTEGER, content BLOB,
    actor TEXT NOT NULL, session_id TEXT, at INTEGER NOT NULL, redacted_at INTEGER,
    redacted_by TEXT)`,
  "CREATE INDEX IF NOT EXISTS versions_by_memory ON versions (memory_id, n)",
  "CREATE INDEX IF NOT EXISTS versions_by_session ON versions (session_id, n)",
  "CREATE INDEX IF NOT EXISTS versions_by_path ON versions (path, n)",
  // What this object is about to do in R2: a row comes before it, and goes with the commit.
  `CREATE TABLE IF NOT EXISTS intents (
    id INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT NOT NULL, content BLOB)`,
  // Paths whose newest state R2 does not have yet, with the etag of what it has.
  "CREATE TABLE IF NOT EXISTS outbox (path TEXT PRIMARY KEY, etag TEXT, tries INTEGER NOT NULL)",
  // `token` only grows: a holder whose lease has passed on has an older one.
  `CREATE TABLE IF NOT EXISTS leases (
    name TEXT PRIMARY KEY, holder TEXT NOT NULL, token INTEGER NOT NULL, until INTEGER NOT NULL)`,
  // Who asked for a lease that somebody held, in order; its holder tells the first one.
  `CREATE TABLE IF NOT EXISTS lease_waiters (
    n INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, waiter TEXT NOT NULL, UNIQUE (name, waiter))`,
];

/** Whether this object holds a directory; asking leaves no trace. */
export function hasSchema(sql: SqlStorage): boolean {
  const found = sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'meta'");
  return found.toArray().length > 0;
}

/** Makes the tables that are not there yet: all for a new directory, the newest for an older one. */
export function createSchema(sql: SqlStorage): void {
  for (const table of TABLES) sql.exec(table);
}
