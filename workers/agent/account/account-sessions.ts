// The account's list of sessions. What a session is like, it tells by itself; who lists them wakes
// none.

import type {
  ListedRow,
  ListedSession,
  ListedState,
  PageQuery,
} from "../../../src/platform/objects/account-rpc.ts";
import { createdPage } from "./created-page.ts";

/** A creation that has not been confirmed for this long is taken to have died, in milliseconds. */
const CREATION_MS = 10 * 60 * 1000;

export function createSessionTables(sql: SqlStorage): void {
  sql.exec(
    `CREATE TABLE IF NOT EXISTS sessions (
       id TEXT PRIMARY KEY, created_at INTEGER NOT NULL, ready INTEGER NOT NULL,
       version INTEGER NOT NULL DEFAULT -1, state TEXT)`,
  );
  sql.exec("CREATE INDEX IF NOT EXISTS sessions_by_time ON sessions (created_at, id)");
  // Few at any time: without it every creation would look at all sessions.
  sql.exec(
    "CREATE INDEX IF NOT EXISTS sessions_in_creation ON sessions (created_at) WHERE ready = 0",
  );
  // Apart from the state, which is written with every turn.
  sql.exec(
    "CREATE TABLE IF NOT EXISTS session_shapes (session TEXT PRIMARY KEY, fixed TEXT NOT NULL)",
  );
  sql.exec(
    `CREATE TABLE IF NOT EXISTS keys (
       key TEXT PRIMARY KEY, hash TEXT NOT NULL, session TEXT NOT NULL, created_at INTEGER NOT NULL)`,
  );
  sql.exec("CREATE INDEX IF NOT EXISTS keys_by_time ON keys (created_at)");
}

/** The session exists from now on. Within a transaction. */
export function addListed(sql: SqlStorage, id: string, listed: ListedSession): void {
  const { rowsWritten } = sql.exec("UPDATE sessions SET ready = 1 WHERE id = ?", id);
  if (rowsWritten === 0) return;
  if (listed.fixed !== null) {
    sql.exec(
      "INSERT OR IGNORE INTO session_shapes (session, fixed) VALUES (?, ?)",
      id,
      listed.fixed,
    );
  }
  changeListed(sql, id, listed);
}

/** Takes a report; an older one than that before it, or one of a session that was removed, does nothing. */
export function changeListed(sql: SqlStorage, id: string, { version, state }: ListedState): void {
  sql.exec(
    "UPDATE sessions SET version = ?, state = ? WHERE id = ? AND version <= ? AND state IS NOT ?",
    version,
    state,
    id,
    version,
    state,
  );
}

/** Sessions that are told to be in a state which passes, by id; an account that starts anew is told again. */
export type Passing = Map<string, Pick<ListedState, "version" | "state">>;

/** Within a transaction. */
export function removeListed(sql: SqlStorage, id: string): void {
  sql.exec("DELETE FROM sessions WHERE id = ?", id);
  sql.exec("DELETE FROM session_shapes WHERE session = ?", id);
}

/** A page of the sessions that exist. */
export function listSessions(sql: SqlStorage, query: PageQuery, passing: Passing): ListedRow[] {
  const { clause, values } = createdPage("ready = 1", query);
  return sql
    .exec<{
      id: string;
      created_at: number;
      version: number;
      state: string | null;
      fixed: string | null;
    }>(
      `SELECT id, created_at, version, state,
         (SELECT fixed FROM session_shapes WHERE session = sessions.id) AS fixed
       FROM sessions ${clause}`,
      ...values,
    )
    .toArray()
    .map(({ id, created_at, version, state, fixed }) => {
      const now = passing.get(id);
      const newest = now && now.version > version ? now.state : state;
      return { id, createdAt: created_at, state: newest, fixed };
    });
}

/** Creations that died on the way. */
export function abandonedSessions(sql: SqlStorage, now: number): string[] {
  return sql
    .exec<{ id: string }>(
      "SELECT id FROM sessions WHERE ready = 0 AND created_at < ? LIMIT 10",
      now - CREATION_MS,
    )
    .toArray()
    .map((row) => row.id);
}
