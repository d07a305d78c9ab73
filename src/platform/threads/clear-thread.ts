import { clearProgress } from "./progress.ts";
import { clearSize } from "./size.ts";
import type { Thread } from "./thread.ts";
import { rowsOf } from "./thread.ts";

/** The tables in which a row names its thread. */
const TABLES = ["calls", "views", "read_files", "stored_results", "prompts"];

/** Deletes a thread with all that belongs to it. Within a transaction. */
export function clearThread(thread: Thread): void {
  const { sql, id } = thread;
  const { before, last } = rowsOf(thread);
  sql.exec("DELETE FROM messages WHERE n > ? AND n <= ?", before, last);
  for (const table of TABLES) {
    sql.exec(`DELETE FROM ${table} WHERE thread = ?`, id);
  }
  clearProgress(thread);
  clearSize(thread);
}
