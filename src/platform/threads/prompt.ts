// The system prompt of a thread: made once, the same bytes in every request.

import type { Thread } from "./thread.ts";

/** Its blocks; undefined if none is stored yet. */
export function readPrompt({ sql, id }: Thread): string[] | undefined {
  const rows = sql
    .exec<{ body: string }>("SELECT body FROM prompts WHERE thread = ? ORDER BY n", id)
    .toArray();
  return rows.length === 0 ? undefined : rows.map((row) => row.body);
}

/** Stores it. Within a transaction. */
export function keepPrompt({ sql, id }: Thread, blocks: readonly string[]): void {
  for (const [n, body] of blocks.entries()) {
    sql.exec("INSERT INTO prompts (thread, n, body) VALUES (?, ?, ?)", id, n, body);
  }
}

/** Other blocks take its place. Within a transaction. */
export function replacePrompt(thread: Thread, blocks: readonly string[]): void {
  thread.sql.exec("DELETE FROM prompts WHERE thread = ?", thread.id);
  keepPrompt(thread, blocks);
}
