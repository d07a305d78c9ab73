// The tables of one session. `docs/storage.md` shows a row of each.

import { CONTEXT_TABLE } from "../../../src/platform/threads/size.ts";
import { VIEWS_TABLE } from "../../../src/platform/threads/view.ts";
import { NOTES_TABLE } from "../rows/notes.ts";
import { WAITS_TABLE } from "../rows/pending-actions.ts";
import { KEPT_TABLE } from "../rows/stored-results.ts";
import { USAGE_TABLE } from "../rows/usage.ts";

const TABLES = [
  // One row, JSON: what was fixed at creation and what an update may change.
  "CREATE TABLE IF NOT EXISTS meta (id INTEGER PRIMARY KEY CHECK (id = 1), body TEXT NOT NULL)",
  // What clients see, in order and for ever. AUTOINCREMENT: a number is never given twice.
  `CREATE TABLE IF NOT EXISTS events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, type TEXT NOT NULL,
    at INTEGER NOT NULL, body TEXT NOT NULL)`,
  // What the model sees.
  `CREATE TABLE IF NOT EXISTS messages (
    n INTEGER PRIMARY KEY AUTOINCREMENT, turn INTEGER NOT NULL, role TEXT NOT NULL, body TEXT NOT NULL)`,
  "CREATE INDEX IF NOT EXISTS messages_by_turn ON messages (turn, n)",
  `CREATE TABLE IF NOT EXISTS turns (
    n INTEGER PRIMARY KEY AUTOINCREMENT, event_id TEXT NOT NULL, status TEXT NOT NULL,
    content TEXT NOT NULL, iteration INTEGER NOT NULL DEFAULT 0, attempt INTEGER NOT NULL DEFAULT 0,
    continuations INTEGER NOT NULL DEFAULT 0, interrupted INTEGER NOT NULL DEFAULT 0,
    resume_at INTEGER, span TEXT, outcome TEXT, started_at INTEGER)`,
  "CREATE INDEX IF NOT EXISTS turns_by_status ON turns (status, n)",
  // The calls of the last answer, until their results are a message.
  `CREATE TABLE IF NOT EXISTS calls (
    n INTEGER PRIMARY KEY AUTOINCREMENT, turn INTEGER NOT NULL, id TEXT NOT NULL, event_id TEXT NOT NULL,
    body TEXT NOT NULL, malformed TEXT, plan TEXT, result TEXT)`,
  WAITS_TABLE,
  // What the model has read: the etag that it knows of each path.
  "CREATE TABLE IF NOT EXISTS seen (path TEXT PRIMARY KEY, etag TEXT NOT NULL)",
  // The system prompt, made once.
  "CREATE TABLE IF NOT EXISTS prompt (n INTEGER PRIMARY KEY, body TEXT NOT NULL)",
  "CREATE TABLE IF NOT EXISTS keys (key TEXT PRIMARY KEY, hash TEXT NOT NULL, reply TEXT NOT NULL, at INTEGER NOT NULL)",
  USAGE_TABLE,
  // How the model is shown the messages, from a moment on.
  VIEWS_TABLE,
  // How large the conversation is for the model; one row, JSON.
  CONTEXT_TABLE,
  // Tool results that were too large for the conversation.
  KEPT_TABLE,
  // What a search for memories offered, chose and left out; one a turn at most.
  "CREATE TABLE IF NOT EXISTS recalls (turn INTEGER PRIMARY KEY, at INTEGER NOT NULL, body TEXT NOT NULL)",
  // Memories that were put into the conversation since it was last compacted.
  "CREATE TABLE IF NOT EXISTS shown (path TEXT PRIMARY KEY, turn INTEGER NOT NULL, bytes INTEGER NOT NULL)",
  // How far the extraction has come, and what of it is due; one row, JSON.
  "CREATE TABLE IF NOT EXISTS extraction (id INTEGER PRIMARY KEY CHECK (id = 1), body TEXT NOT NULL)",
  // Of each turn: whether it wrote to the memory, and what that means for the extraction once it ended.
  `CREATE TABLE IF NOT EXISTS turn_marks (
    turn INTEGER PRIMARY KEY, wrote INTEGER NOT NULL DEFAULT 0, mark TEXT)`,
  // Runs of forks: how far each has come, and its log, which stays.
  `CREATE TABLE IF NOT EXISTS runs (
    n INTEGER PRIMARY KEY AUTOINCREMENT, purpose TEXT NOT NULL, first_turn INTEGER NOT NULL,
    last_turn INTEGER NOT NULL, iteration INTEGER NOT NULL DEFAULT 0, attempt INTEGER NOT NULL DEFAULT 0,
    continuations INTEGER NOT NULL DEFAULT 0, pending TEXT NOT NULL DEFAULT '[]', log TEXT NOT NULL,
    outcome TEXT, started_at INTEGER NOT NULL, ended_at INTEGER)`,
  // What a fork said and was told after its prefix; gone when it has ended.
  `CREATE TABLE IF NOT EXISTS run_messages (
    n INTEGER PRIMARY KEY AUTOINCREMENT, run INTEGER NOT NULL, body TEXT NOT NULL)`,
  // The session's notes, and how far they and the conversation are; one row.
  NOTES_TABLE,
];

/** Whether this object holds a session; asking leaves no trace. */
export function hasSchema(sql: SqlStorage): boolean {
  const found = sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'meta'");
  return found.toArray().length > 0;
}

/** Makes the tables that are not there yet: all for a new session, the newest for an older one. */
export function createSchema(sql: SqlStorage): void {
  for (const table of TABLES) sql.exec(table);
}
