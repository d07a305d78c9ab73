// Rows of a session's conversation as a crash, a defect or an earlier turn may have left them.

import { changeProgress } from "../../../src/platform/threads/progress.ts";
import type { LoopOutcome } from "../../../src/shared/loop/steps.ts";
import { mainThread } from "../rows/session-threads.ts";

interface CallRow {
  event_id?: string;
  permission?: string;
  result?: string | null;
}

/** A message of the main thread; the body is stored as it is given. */
export function messageRow(sql: SqlStorage, origin: string, body: unknown, turn = 1): void {
  sql.exec(
    "INSERT INTO messages (turn, origin, details, body) VALUES (?, ?, ?, ?)",
    turn,
    origin,
    origin === "results" ? '{"stored":[]}' : null,
    typeof body === "string" ? body : JSON.stringify(body),
  );
}

/** A call of the main thread's last answer. */
export function callRow(sql: SqlStorage, id: string, call: unknown, row: CallRow = {}): void {
  sql.exec(
    `INSERT INTO calls (thread, id, body, event_id, permission, result)
     VALUES ('main', ?, ?, ?, ?, ?)`,
    id,
    JSON.stringify(call),
    row.event_id ?? null,
    row.permission ?? null,
    row.result ?? null,
  );
}

/** How far the main thread's turn has come. */
export function progressRow(sql: SqlStorage, iteration: number, outcome?: LoopOutcome): void {
  changeProgress(mainThread(sql), 1, { iteration, outcome });
}
