// The turns of a session: one a user message, run one at a time in the order in which they were
// acknowledged. How far one has come is in the rows of its thread.

import * as z from "zod";
import type { TextBlock } from "../../../src/shared/thread/messages.ts";

export interface Turn {
  n: number;
  /** Id of its `user.message` event. */
  eventId: string;
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
  status: string;
  interrupted: number;
  resume_at: number | null;
  span: string | null;
  started_at: number | null;
  deaths: number;
};

/** Queues a turn. */
export function addTurn(sql: SqlStorage, eventId: string): void {
  sql.exec("INSERT INTO turns (event_id, status) VALUES (?, 'queued')", eventId);
}

const userMessage = z.object({
  content: z.array(z.object({ type: z.literal("text"), text: z.string() })),
});

/** What the user said, as the event that began the turn has it. */
export function userWords(sql: SqlStorage, { eventId }: Pick<Turn, "eventId">): TextBlock[] {
  const { body } = sql
    .exec<{ body: string }>("SELECT body FROM events WHERE id = ?", eventId)
    .one();
  return userMessage.parse(JSON.parse(body)).content;
}

/** The turn that is due: the one that runs, else the oldest that is queued. */
export function currentTurn(sql: SqlStorage): Turn | undefined {
  const [row] = sql
    .exec<Row>(
      `SELECT * FROM turns WHERE status IN ('running', 'queued')
       ORDER BY status = 'queued', n LIMIT 1`,
    )
    .toArray();
  return row && turnOf(row);
}

/** The newest turn that was begun, whatever became of it. */
export function lastTurn(sql: SqlStorage): Turn | undefined {
  const [row] = sql
    .exec<Row>("SELECT * FROM turns WHERE status <> 'queued' ORDER BY n DESC LIMIT 1")
    .toArray();
  return row && turnOf(row);
}

/** A turn by its number; it must exist. */
export function turnByNumber(sql: SqlStorage, n: number): Turn {
  return turnOf(sql.exec<Row>("SELECT * FROM turns WHERE n = ?", n).one());
}

type Change = Partial<Omit<Turn, "n" | "eventId">>;
const COLUMNS: Record<keyof Change, string> = {
  status: "status",
  interrupted: "interrupted",
  resumeAt: "resume_at",
  span: "span",
  startedAt: "started_at",
  deaths: "deaths",
};

/** Changes some fields of a turn; a field given as undefined is cleared. */
export function changeTurn(sql: SqlStorage, n: number, change: Change): void {
  for (const field of Object.keys(COLUMNS)) {
    if (!isField(field) || !Object.hasOwn(change, field)) continue;
    sql.exec(`UPDATE turns SET ${COLUMNS[field]} = ? WHERE n = ?`, column(change[field]), n);
  }
}

/** How many turns are queued. */
export function countQueuedTurns(sql: SqlStorage): number {
  return sql.exec<{ n: number }>("SELECT count(*) AS n FROM turns WHERE status = 'queued'").one().n;
}

/** The turns that are queued, in their order. */
export function queuedTurns(sql: SqlStorage): Turn[] {
  const rows = sql.exec<Row>("SELECT * FROM turns WHERE status = 'queued' ORDER BY n");
  return [...rows].map(turnOf);
}

function isField(text: string): text is keyof Change {
  return Object.hasOwn(COLUMNS, text);
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
    status: status.parse(row.status),
    interrupted: row.interrupted === 1,
    resumeAt: row.resume_at ?? undefined,
    span: row.span ?? undefined,
    startedAt: row.started_at ?? undefined,
    deaths: row.deaths,
  };
}
