// The tables of one session. `docs/storage.md` shows a row of each.

const TABLES = [
  // One row, JSON: what was fixed at creation and what an update may change.
  "CREATE TABLE meta (id INTEGER PRIMARY KEY CHECK (id = 1), body TEXT NOT NULL)",
  // What clients see, in order and for ever. AUTOINCREMENT: a number is never given twice.
  `CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, type TEXT NOT NULL,
    at INTEGER NOT NULL, body TEXT NOT NULL)`,
  // What the model sees.
  `CREATE TABLE messages (
    n INTEGER PRIMARY KEY AUTOINCREMENT, turn INTEGER NOT NULL, role TEXT NOT NULL, body TEXT NOT NULL)`,
  `CREATE TABLE turns (
    n INTEGER PRIMARY KEY AUTOINCREMENT, event_id TEXT NOT NULL, status TEXT NOT NULL,
    content TEXT NOT NULL, iteration INTEGER NOT NULL DEFAULT 0, attempt INTEGER NOT NULL DEFAULT 0,
    continuations INTEGER NOT NULL DEFAULT 0, interrupted INTEGER NOT NULL DEFAULT 0,
    resume_at INTEGER, span TEXT, outcome TEXT, started_at INTEGER)`,
  "CREATE INDEX turns_by_status ON turns (status, n)",
  // The calls of the last answer, until their results are a message.
  `CREATE TABLE calls (
    n INTEGER PRIMARY KEY AUTOINCREMENT, turn INTEGER NOT NULL, id TEXT NOT NULL, event_id TEXT NOT NULL,
    body TEXT NOT NULL, malformed TEXT, plan TEXT, result TEXT)`,
  // What the model has read: the etag that it knows of each path.
  "CREATE TABLE seen (path TEXT PRIMARY KEY, etag TEXT NOT NULL)",
  // The system prompt, made once.
  "CREATE TABLE prompt (n INTEGER PRIMARY KEY, body TEXT NOT NULL)",
  "CREATE TABLE keys (key TEXT PRIMARY KEY, hash TEXT NOT NULL, reply TEXT NOT NULL, at INTEGER NOT NULL)",
  `CREATE TABLE usage (
    purpose TEXT NOT NULL, model TEXT NOT NULL, requests INTEGER NOT NULL, input INTEGER NOT NULL,
    cache_read INTEGER NOT NULL, cache_creation INTEGER NOT NULL, output INTEGER NOT NULL,
    PRIMARY KEY (purpose, model))`,
];

/** Whether this object holds a session; asking leaves no trace. */
export function hasSchema(sql: SqlStorage): boolean {
  const found = sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'meta'");
  return found.toArray().length > 0;
}

/** Makes the tables; to be called once, within the transaction that makes the session. */
export function createSchema(sql: SqlStorage): void {
  for (const table of TABLES) sql.exec(table);
}
