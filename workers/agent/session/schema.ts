// The tables of one session. `docs/storage.md` shows a row of each. What is small and changes with
// every turn is state: see `src/platform/state.ts`, and the files of `rows/`.

import { hasTable } from "../../../src/platform/sql.ts";
import { createThreadTables } from "../../../src/platform/threads/schema.ts";
import { EVENTS_TABLE } from "../rows/events.ts";
import { KEYS_TABLES } from "../rows/idempotency.ts";
import { NOTES_TABLE } from "../rows/notes.ts";
import { PENDING_ACTIONS_TABLE } from "../rows/pending-actions.ts";
import { SHOWN_TABLE } from "../rows/recalls.ts";
import { RUNS_TABLE } from "../rows/runs.ts";
import { TURNS_TABLE } from "../rows/turns.ts";

const TABLES = [
  EVENTS_TABLE,
  TURNS_TABLE,
  PENDING_ACTIONS_TABLE,
  ...KEYS_TABLES,
  SHOWN_TABLE,
  RUNS_TABLE,
  NOTES_TABLE,
];

/** Whether this object holds a session; asking leaves no trace. */
export function hasSchema(sql: SqlStorage): boolean {
  return hasTable(sql, "state");
}

/** Makes the tables that are not there yet. */
export function createSchema(sql: SqlStorage): void {
  createThreadTables(sql);
  for (const table of TABLES) sql.exec(table);
}
