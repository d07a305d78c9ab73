// A thread is one conversation with a model in the rows of an object: a session's main one, a
// subagent's, a background fork's, a dream's. Every row has the key of its thread. No file of this folder
// knows which kind of object it is in.

/** A thread of an object. */
export interface Thread {
  sql: SqlStorage;
  /** Unique in its object: "main", "fork-7". */
  id: string;
}

/** The object that a thread runs in. */
export interface ThreadContext {
  sql: SqlStorage;
  /** Runs a function as one transaction, then notifies the listeners. */
  commit<T>(write: () => T): T;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** The tables with the content of a conversation. */
const TABLES = ["messages", "calls", "views", "sizes", "read_files", "stored_results", "prompts"];

/**
 * Deletes the content of a thread; the progress of its turns stays. Within a transaction.
 */
export function clearThread({ sql, id }: Thread): void {
  for (const table of TABLES) {
    sql.exec(`DELETE FROM ${table} WHERE thread = ?`, id);
  }
}
