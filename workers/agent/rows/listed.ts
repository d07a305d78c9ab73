// How much of this session its account knows, for the account's list.

/** One of the tables of a session; one row, once it was reported while it stood still. */
export const LISTED_TABLE =
  "CREATE TABLE IF NOT EXISTS listed (id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL)";

/** The version of the state that the account has for sure; -1 before the first. */
export function listedVersion(sql: SqlStorage): number {
  const [row] = sql.exec<{ version: number }>("SELECT version FROM listed").toArray();
  return row?.version ?? -1;
}

/** The account has this version of a session that stands still. Within a transaction. */
export function noteListed(sql: SqlStorage, version: number): void {
  sql.exec("INSERT OR REPLACE INTO listed (id, version) VALUES (1, ?)", version);
}
