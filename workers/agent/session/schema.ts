// The tables of one session. `docs/storage.md` shows a row of each.

import { hasTable } from "../../../src/platform/sql.ts";
import { createThreadTables } from "../../../src/platform/threads/schema.ts";
import { LISTED_TABLE } from "../rows/listed.ts";
import { NOTES_TABLE } from "../rows/notes.ts";
import { PENDING_ACTIONS_TABLE } from "../rows/pending-actions.ts";
import { USAGE_TABLE } from "../rows/usage.ts";

const TABLES = [
  // One row, JSON: what was fixed at creation.
  "CREATE TABLE IF NOT EXISTS meta (id INTEGER PRIMARY KEY CHECK (id = 1), body TEXT NOT NULL)",
  // What clients see, in order and for ever. AUTOINCREMENT: a number is never given twice.
  `CREATE TABLE IF NOT EXISTS events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, type TEXT NOT NULL,
    at INTEGER NOT NULL, body TEXT NOT NULL)`,
  // One a user message; how far it has come is in its thread's progress.
  `CREATE TABLE IF NOT EXISTS turns (
    n INTEGER PRIMARY KEY AUTOINCREMENT, event_id TEXT NOT NULL, status TEXT NOT NULL,
    interrupted INTEGER NOT NULL DEFAULT 0, resume_at INTEGER, span TEXT, started_at INTEGER,
    deaths INTEGER NOT NULL DEFAULT 0)`,
  "CREATE INDEX IF NOT EXISTS turns_by_status ON turns (status, n)",
  PENDING_ACTIONS_TABLE,
  "CREATE TABLE IF NOT EXISTS keys (key TEXT PRIMARY KEY, hash TEXT NOT NULL, reply TEXT NOT NULL, at INTEGER NOT NULL)",
  // Old ones are cleared with every send.
  "CREATE INDEX IF NOT EXISTS keys_by_time ON keys (at)",
  USAGE_TABLE,
  LISTED_TABLE,
  // What a search for memories offered, chose and left out; one a turn at most.
  "CREATE TABLE IF NOT EXISTS recalls (turn INTEGER PRIMARY KEY, at INTEGER NOT NULL, body TEXT NOT NULL)",
  // Memories that were put into the conversation since it was last compacted.
  "CREATE TABLE IF NOT EXISTS shown (path TEXT PRIMARY KEY, turn INTEGER NOT NULL, bytes INTEGER NOT NULL)",
  // How far the extraction has come, and what of it is due; one row, JSON.
  "CREATE TABLE IF NOT EXISTS extraction (id INTEGER PRIMARY KEY CHECK (id = 1), body TEXT NOT NULL)",
  // Of each turn: whether it wrote to the memory, what that means for the extraction once it ended, and
  // how much an extraction has to look at.
  `CREATE TABLE IF NOT EXISTS turn_marks (
    turn INTEGER PRIMARY KEY, wrote INTEGER NOT NULL DEFAULT 0, mark TEXT,
    messages INTEGER NOT NULL DEFAULT 0, tokens INTEGER NOT NULL DEFAULT 0)`,
  "CREATE INDEX IF NOT EXISTS turn_marks_by_mark ON turn_marks (mark, turn)",
  // Runs of background forks, each a thread while it lasts, and its log, which stays.
  `CREATE TABLE IF NOT EXISTS runs (
    n INTEGER PRIMARY KEY AUTOINCREMENT, purpose TEXT NOT NULL, first_turn INTEGER NOT NULL,
    last_turn INTEGER NOT NULL, log TEXT NOT NULL, outcome TEXT, started_at INTEGER NOT NULL,
    ended_at INTEGER, deaths INTEGER NOT NULL DEFAULT 0)`,
  "CREATE INDEX IF NOT EXISTS runs_by_purpose ON runs (purpose, n)",
  "CREATE INDEX IF NOT EXISTS runs_by_turn ON runs (purpose, first_turn, n)",
  "CREATE INDEX IF NOT EXISTS runs_unfinished ON runs (purpose, n) WHERE ended_at IS NULL",
  // The session's notes, and how far they and the conversation are; one row.
  NOTES_TABLE,
];

/** Whether this object holds a session; asking leaves no trace. */
export function hasSchema(sql: SqlStorage): boolean {
  return hasTable(sql, "meta");
}

/** Makes the tables that are not there yet. */
export function createSchema(sql: SqlStorage): void {
  createThreadTables(sql);
  for (const table of TABLES) sql.exec(table);
}
