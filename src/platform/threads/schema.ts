// The tables of threads. Every row has the key of its thread; `docs/storage.md` shows one of each. How far
// a turn has come, and the size of a conversation, are state (`progress.ts`, `size.ts`).

import { STATE_TABLE } from "../state.ts";

const TABLES = [
  STATE_TABLE,
  // The transcript: append only, complete. The model sees a view of it.
  // `n` has the thread in its upper half (`rowsOf`): a thread's rows lie together and need no index.
  `CREATE TABLE IF NOT EXISTS messages (
    n INTEGER PRIMARY KEY, turn INTEGER NOT NULL, origin TEXT NOT NULL, details TEXT,
    body TEXT NOT NULL)`,
  // The calls of the last answers, until their results are a message: never many.
  `CREATE TABLE IF NOT EXISTS calls (
    n INTEGER PRIMARY KEY, thread TEXT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL,
    malformed TEXT, permission TEXT, event_id TEXT, plan TEXT, result TEXT, stored TEXT)`,
  // The views, each valid from an entry on.
  `CREATE TABLE IF NOT EXISTS views (
    n INTEGER PRIMARY KEY, thread TEXT NOT NULL, at INTEGER NOT NULL, cut INTEGER NOT NULL,
    body TEXT NOT NULL)`,
  "CREATE INDEX IF NOT EXISTS views_by_cut ON views (thread, cut, n)",
  // The files that the model knows, with the etag of the known content.
  `CREATE TABLE IF NOT EXISTS read_files (
    thread TEXT NOT NULL, path TEXT NOT NULL, etag TEXT NOT NULL,
    PRIMARY KEY (thread, path)) WITHOUT ROWID`,
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
