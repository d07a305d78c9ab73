// The turns of a session: one a user message, run one at a time in the order in which they were
// acknowledged. A turn's row is all that is needed to go on with it after a crash.

import * as z from "zod";
import type { LoopOutcome } from "../../../src/shared/loop/steps.ts";

export interface Turn {
  n: number;
  /** Id of its `user.message` event. */
  eventId: string;
  status: "waiting" | "running" | "done";
  /** JSON of the message's content blocks. */
  content: string;
  iteration: number;
  attempt: number;
  continuations: number;
  /** The user's interrupt is acknowledged and must hold, also after a crash. */
  interrupted: boolean;
  /** Not to be run before, in milliseconds. */
  resumeAt: number | undefined;
  /** Id of the `span.model_request_start` event that has no end yet. */
  span: string | undefined;
  /** Set together with the last step: only the end is left to do. */
  outcome: LoopOutcome | undefined;
  startedAt: number | undefined;
}

type Row = {
  n: number;
  event_id: string;
  status: string;
  content: string;
  iteration: number;
  attempt: number;
  continuations: number;
  interrupted: number;
  resume_at: number | null;
  span: string | null;
  outcome: string | null;
  started_at: number | null;
};

/** Adds a turn that waits for those before it. */
export function addTurn(sql: SqlStorage, eventId: string, content: string): void {
  sql.exec(
    "INSERT INTO turns (event_id, status, content) VALUES (?, 'waiting', ?)",
    eventId,
    content,
  );
}

/** The turn that is due: the one that runs, else the one that has waited longest. */
export function currentTurn(sql: SqlStorage): Turn | undefined {
  const [row] = sql
    .exec<Row>(
      `SELECT * FROM turns WHERE status IN ('running', 'waiting')
       ORDER BY status = 'waiting', n LIMIT 1`,
    )
    .toArray();
  return row && turnOf(row);
}

/** The newest turn that was begun, whatever became of it. */
export function lastTurn(sql: SqlStorage): Turn | undefined {
  const [row] = sql
    .exec<Row>("SELECT * FROM turns WHERE status <> 'waiting' ORDER BY n DESC LIMIT 1")
    .toArray();
  return row && turnOf(row);
}

/** A turn by its number; it must exist. */
export function turnByNumber(sql: SqlStorage, n: number): Turn {
  return turnOf(sql.exec<Row>("SELECT * FROM turns WHERE n = ?", n).one());
}

type Change = Partial<Omit<Turn, "n" | "eventId" | "content">>;
const COLUMNS: Record<keyof Change, string> = {
  status: "status",
  iteration: "iteration",
  attempt: "attempt",
  continuations: "continuations",
  interrupted: "interrupted",
  resumeAt: "resume_at",
  span: "span",
  outcome: "outcome",
  startedAt: "started_at",
};

/** Changes some fields of a turn; a field given as undefined is cleared. */
export function changeTurn(sql: SqlStorage, n: number, change: Change): void {
  for (const field of Object.keys(COLUMNS)) {
    if (!isField(field) || !Object.hasOwn(change, field)) continue;
    sql.exec(`UPDATE turns SET ${COLUMNS[field]} = ? WHERE n = ?`, column(change[field]), n);
  }
}

/** How many turns are neither done nor running. */
export function waitingTurns(sql: SqlStorage): number {
  return sql.exec<{ n: number }>("SELECT count(*) AS n FROM turns WHERE status = 'waiting'").one()
    .n;
}

/** The turns that wait, in their order. */
export function turnsThatWait(sql: SqlStorage): Turn[] {
  const rows = sql.exec<Row>("SELECT * FROM turns WHERE status = 'waiting' ORDER BY n");
  return [...rows].map(turnOf);
}

function isField(text: string): text is keyof Change {
  return Object.hasOwn(COLUMNS, text);
}

function column(value: Change[keyof Change]): string | number | null {
  if (value === undefined) return null;
  if (typeof value === "boolean") return value ? 1 : 0;
  return typeof value === "object" ? JSON.stringify(value) : value;
}

const status = z.enum(["waiting", "running", "done"]).catch("done");
const outcome = z.discriminatedUnion("reason", [
  z.object({ reason: z.enum(["end_turn", "interrupted", "refusal", "stopped", "failed"]) }),
  z.object({ reason: z.literal("iterations"), limit: z.number() }),
  z.object({ reason: z.literal("wait"), ms: z.number() }),
  z.object({ reason: z.literal("requires_action") }),
]);

function turnOf(row: Row): Turn {
  return {
    n: row.n,
    eventId: row.event_id,
    status: status.parse(row.status),
    content: row.content,
    iteration: row.iteration,
    attempt: row.attempt,
    continuations: row.continuations,
    interrupted: row.interrupted === 1,
    resumeAt: row.resume_at ?? undefined,
    span: row.span ?? undefined,
    outcome: row.outcome === null ? undefined : outcome.parse(JSON.parse(row.outcome)),
    startedAt: row.started_at ?? undefined,
  };
}
