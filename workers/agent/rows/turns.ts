// The turns of a session: one a user message, run one at a time in the order in which they were
// acknowledged. How far one has come is in the rows of its thread.

import * as z from "zod";
import { defineState } from "../../../src/platform/state.ts";
import type { LoopOutcome } from "../../../src/shared/loop/steps.ts";
import { escapeReminders } from "../../../src/shared/safety/fence.ts";
import { type Draft, USER } from "../../../src/shared/thread/entry.ts";
import type { TextBlock } from "../../../src/shared/thread/messages.ts";

/** One of the tables of a session. What the extraction looks at is behind the turn's own: see
 * `extraction-state.ts`; what a search for memories found: `recalls.ts`. */
export const TURNS_TABLE = `CREATE TABLE IF NOT EXISTS turns (
    n INTEGER PRIMARY KEY, event_id TEXT NOT NULL, event_seq INTEGER NOT NULL, status TEXT NOT NULL,
    interrupted INTEGER NOT NULL DEFAULT 0, resume_at INTEGER, span TEXT, started_at INTEGER,
    deaths INTEGER NOT NULL DEFAULT 0, outcome TEXT, wrote INTEGER NOT NULL DEFAULT 0, mark TEXT,
    messages INTEGER NOT NULL DEFAULT 0, tokens INTEGER NOT NULL DEFAULT 0, recalled_at INTEGER,
    recall TEXT)`;

/** All turns up to this one are done with; so none of them is looked at again to find what is due. */
const doneUpTo = defineState("turns", z.number(), 0);

export interface Turn {
  n: number;
  /** Id and number of its `user.message` event. */
  eventId: string;
  eventSeq: number;
  status: "queued" | "running" | "done";
  /** The user's interrupt is acknowledged and must hold, also after a crash. */
  interrupted: boolean;
  /** Not to be run before, in milliseconds. */
  resumeAt: number | undefined;
  /** Id of the `span.model_request_start` event that has no end yet. */
  span: string | undefined;
  startedAt: number | undefined;
  /** Times that the process died since the turn's last step. */
  deaths: number;
}

type Row = {
  n: number;
  event_id: string;
  event_seq: number;
  status: string;
  interrupted: number;
  resume_at: number | null;
  span: string | null;
  started_at: number | null;
  deaths: number;
};

const COLUMNS = "n, event_id, event_seq, status, interrupted, resume_at, span, started_at, deaths";

/** Queues a turn for the event of a message. */
export function addTurn(sql: SqlStorage, { id, seq }: { id: string; seq: number }): void {
  sql.exec("INSERT INTO turns (event_id, event_seq, status) VALUES (?, ?, 'queued')", id, seq);
}

const userMessage = z.object({
  content: z.array(z.object({ type: z.literal("text"), text: z.string() })),
});

/** What the user said, as the event that began the turn has it. */
export function userWords(sql: SqlStorage, { eventSeq }: Pick<Turn, "eventSeq">): TextBlock[] {
  const { body } = sql
    .exec<{ body: string }>("SELECT body FROM events WHERE seq = ?", eventSeq)
    .one();
  return userMessage.parse(JSON.parse(body)).content;
}

/** The same as the model gets it: what only looks like a reminder of ours is seen to be none. */
export function spokenWords(sql: SqlStorage, turn: Pick<Turn, "eventSeq">): TextBlock[] {
  return userWords(sql, turn).map((block) => ({ ...block, text: escapeReminders(block.text) }));
}

/** The entry of a turn's message, whose words stay in their event. */
export function spokenDraft(sql: SqlStorage, turn: Pick<Turn, "eventSeq">): Draft {
  const message = { role: "user" as const, content: spokenWords(sql, turn) };
  return { origin: USER, message, said: turn.eventSeq };
}

/** The number of the newest message that the user has sent, as a turn; 0 before the first. */
export function newestTurn(sql: SqlStorage): number {
  return sql.exec<{ n: number }>("SELECT ifnull(max(n), 0) AS n FROM turns").one().n;
}

/** The newest turns after one, at most so many, in their order, whatever became of them. */
export function turnsAfter(sql: SqlStorage, n: number, most: number): Turn[] {
  const rows = sql.exec<Row>(
    `SELECT ${COLUMNS} FROM turns WHERE n > ? ORDER BY n DESC LIMIT ?`,
    n,
    most,
  );
  return [...rows].map(turnOf).toReversed();
}

/** When the user sent a turn's message, in milliseconds. */
export function saidAt(sql: SqlStorage, n: number): number {
  const { eventSeq } = turnByNumber(sql, n);
  return sql.exec<{ at: number }>("SELECT at FROM events WHERE seq = ?", eventSeq).one().at;
}

/** The turn that is due: the one that runs, else the oldest that is queued. */
export function currentTurn(sql: SqlStorage): Turn | undefined {
  const [row] = sql
    .exec<Row>(
      `SELECT ${COLUMNS} FROM turns WHERE n > ? AND status <> 'done' ORDER BY n LIMIT 1`,
      doneUpTo.read(sql),
    )
    .toArray();
  return row && turnOf(row);
}

/** The newest turn that was begun, whatever became of it. */
export function lastTurn(sql: SqlStorage): Turn | undefined {
  const [row] = sql
    .exec<Row>(`SELECT ${COLUMNS} FROM turns WHERE status <> 'queued' ORDER BY n DESC LIMIT 1`)
    .toArray();
  return row && turnOf(row);
}

/** A turn by its number; it must exist. */
export function turnByNumber(sql: SqlStorage, n: number): Turn {
  return turnOf(sql.exec<Row>(`SELECT ${COLUMNS} FROM turns WHERE n = ?`, n).one());
}

type Change = Partial<Omit<Turn, "n" | "eventId" | "eventSeq">>;
const FIELDS: Record<keyof Change, string> = {
  status: "status",
  interrupted: "interrupted",
  resumeAt: "resume_at",
  span: "span",
  startedAt: "started_at",
  deaths: "deaths",
};

/** Changes some fields of a turn; a field given as undefined is cleared. */
export function changeTurn(sql: SqlStorage, n: number, change: Change): void {
  const fields = Object.keys(change).filter(isField);
  if (fields.length > 0) {
    const sets = fields.map((field) => `${FIELDS[field]} = ?`).join(", ");
    const values = fields.map((field) => column(change[field]));
    sql.exec(`UPDATE turns SET ${sets} WHERE n = ?`, ...values, n);
  }
  if (change.status === "done") passDone(sql);
}

/** A turn is over, for this reason; undefined where a defect of ours ended it. Within a transaction. */
export function endTurn(sql: SqlStorage, n: number, outcome: LoopOutcome | undefined): void {
  const reason = JSON.stringify(outcome ?? { reason: "stopped" });
  sql.exec("UPDATE turns SET status = 'done', outcome = ? WHERE n = ?", reason, n);
  passDone(sql);
}

/** A turn that joined another may be done before those that came before it. */
function passDone(sql: SqlStorage): void {
  const first = currentTurn(sql)?.n;
  doneUpTo.write(sql, first === undefined ? newestTurn(sql) : first - 1);
}

/** How many turns are queued. */
export function countQueuedTurns(sql: SqlStorage): number {
  return queuedTurns(sql).length;
}

/** The turns that are queued, in their order. */
export function queuedTurns(sql: SqlStorage): Turn[] {
  const rows = sql.exec<Row>(
    `SELECT ${COLUMNS} FROM turns WHERE n > ? AND status = 'queued' ORDER BY n`,
    doneUpTo.read(sql),
  );
  return [...rows].map(turnOf);
}

function isField(text: string): text is keyof Change {
  return Object.hasOwn(FIELDS, text);
}

function column(value: Change[keyof Change]): string | number | null {
  if (value === undefined) return null;
  return typeof value === "boolean" ? Number(value) : value;
}

const status = z.enum(["queued", "running", "done"]).catch("done");

function turnOf(row: Row): Turn {
  return {
    n: row.n,
    eventId: row.event_id,
    eventSeq: row.event_seq,
    status: status.parse(row.status),
    interrupted: row.interrupted === 1,
    resumeAt: row.resume_at ?? undefined,
    span: row.span ?? undefined,
    startedAt: row.started_at ?? undefined,
    deaths: row.deaths,
  };
}
