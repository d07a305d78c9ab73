// The tables of threads. Every row has the key of its thread; `docs/storage.md` shows one of each.

const TABLES = [
  // The transcript: append only, complete. The model sees a view of it.
  `CREATE TABLE IF NOT EXISTS messages (
    n INTEGER PRIMARY KEY AUTOINCREMENT, thread TEXT NOT NULL, turn INTEGER NOT NULL,
    origin TEXT NOT NULL, details TEXT, body TEXT NOT NULL)`,
  "CREATE INDEX IF NOT EXISTS messages_by_thread ON messages (thread, n)",
  "CREATE INDEX IF NOT EXISTS messages_by_turn ON messages (thread, turn, n)",
  // The state of each turn, and why it ended.
  `CREATE TABLE IF NOT EXISTS progress (
    thread TEXT NOT NULL, turn INTEGER NOT NULL, iteration INTEGER NOT NULL DEFAULT 0,
    attempt INTEGER NOT NULL DEFAULT 0, continuations INTEGER NOT NULL DEFAULT 0, outcome TEXT,
    PRIMARY KEY (thread, turn))`,
  // The calls of the last answer, until their results are a message.
  `CREATE TABLE IF NOT EXISTS calls (
    n INTEGER PRIMARY KEY AUTOINCREMENT, thread TEXT NOT NULL, id TEXT NOT NULL,
    body TEXT NOT NULL, malformed TEXT, permission TEXT, event_id TEXT, plan TEXT, result TEXT,
    stored TEXT)`,
  "CREATE INDEX IF NOT EXISTS calls_by_thread ON calls (thread, id)",
  // The views, each valid from an entry on.
  `CREATE TABLE IF NOT EXISTS views (
    n INTEGER PRIMARY KEY AUTOINCREMENT, thread TEXT NOT NULL, at INTEGER NOT NULL,
    cut INTEGER NOT NULL, body TEXT NOT NULL)`,
  "CREATE INDEX IF NOT EXISTS views_by_cut ON views (thread, cut, n)",
  // The token count of the conversation; one row a thread, JSON.
  "CREATE TABLE IF NOT EXISTS sizes (thread TEXT PRIMARY KEY, body TEXT NOT NULL)",
  // The files that the model knows, with the etag of the known content.
  `CREATE TABLE IF NOT EXISTS read_files (
    thread TEXT NOT NULL, path TEXT NOT NULL, etag TEXT NOT NULL, PRIMARY KEY (thread, path))`,
  // The system prompt, made once.
  `CREATE TABLE IF NOT EXISTS prompts (
    thread TEXT NOT NULL, n INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (thread, n))`,
  // Tool results that were too large for the conversation, whole.
  `CREATE TABLE IF NOT EXISTS stored_results (
    path TEXT PRIMARY KEY, thread TEXT NOT NULL, at INTEGER NOT NULL, size INTEGER NOT NULL,
    etag TEXT NOT NULL, body TEXT NOT NULL)`,
];

/** Creates the tables of threads that do not exist yet. */
export function createThreadTables(sql: SqlStorage): void {
  for (const table of TABLES) sql.exec(table);
}
