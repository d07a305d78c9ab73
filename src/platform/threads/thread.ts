// A thread is one conversation with a model in an object's rows: a session's main one, a subagent's, a
// background fork's, a dream's. Everything that belongs to one has its key; whose object it is, no
// file of this folder knows.

/** A thread of an object. */
export interface Thread {
  sql: SqlStorage;
  /** Unique in its object: "main", "fork-7". */
  id: string;
}

/** What a thread runs in. */
export interface ThreadContext {
  sql: SqlStorage;
  /** Runs a function as one transaction, then tells whoever listens. */
  commit<T>(write: () => T): T;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** What a conversation holds. */
const TABLES = ["messages", "calls", "views", "sizes", "read_files", "stored_results", "prompts"];

/**
 * A thread is over: what its conversation held goes, how its turns went stays. Within a transaction.
 */
export function clearThread({ sql, id }: Thread): void {
  for (const table of TABLES) {
    sql.exec(`DELETE FROM ${table} WHERE thread = ?`, id);
  }
}
