// Pending actions: calls that a person has to allow, or that the client runs. Each is announced with a
// deadline and answered once. The rows stay, so that a late or second answer is known as one.

import * as z from "zod";
import { MemdirError } from "../../../src/shared/errors.ts";
import type { CallAnswer } from "../../../src/shared/loop/pending-action.ts";

/** `event_id` is that of the event which announced the call; `state` is what came of it. */
export const PENDING_ACTIONS_TABLE = `CREATE TABLE IF NOT EXISTS pending_actions (
    event_id TEXT PRIMARY KEY, turn INTEGER NOT NULL, call_id TEXT NOT NULL, kind TEXT NOT NULL,
    announced_at INTEGER NOT NULL, until INTEGER NOT NULL, state TEXT NOT NULL DEFAULT 'open',
    answer TEXT)`;

/** Who answers: a person, by allowing or denying, or the client, by a result. */
type ActionKind = "approval" | "client";

const answerSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("allow") }),
  z.object({ type: z.literal("deny"), message: z.string().optional() }),
  z.object({ type: z.literal("result"), content: z.string(), isError: z.boolean() }),
  z.object({ type: z.literal("timeout"), ms: z.number() }),
]);

type Row = {
  event_id: string;
  turn: number;
  kind: string;
  announced_at: number;
  until: number;
  state: string;
  answer: string | null;
};

/** A call is announced, and its action pending from now on. */
export function addPendingAction(
  sql: SqlStorage,
  action: { eventId: string; turn: number; callId: string; kind: ActionKind; until: number },
  now: number,
): void {
  sql.exec(
    "INSERT INTO pending_actions (event_id, turn, call_id, kind, announced_at, until) VALUES (?, ?, ?, ?, ?, ?)",
    action.eventId,
    action.turn,
    action.callId,
    action.kind,
    now,
    action.until,
  );
}

/** Ids of the events whose actions are open, and the first deadline among them. */
export function openActions(
  sql: SqlStorage,
  turn: number,
): { eventIds: string[]; until: number | undefined } {
  const rows = sql
    .exec<{ event_id: string; until: number }>(
      "SELECT event_id, until FROM pending_actions WHERE turn = ? AND state = 'open' ORDER BY rowid",
      turn,
    )
    .toArray();
  const times = rows.map(({ until }) => until);
  return {
    eventIds: rows.map((row) => row.event_id),
    until: times.length === 0 ? undefined : Math.min(...times),
  };
}

/**
 * Keeps the answer of an open call; gives back its turn. Throws `invalid_request` for a call that
 * there is not, that waits for another kind of answer, or that has its answer already.
 */
export function answerAction(
  sql: SqlStorage,
  field: string,
  eventId: string,
  kind: ActionKind,
  answer: CallAnswer,
  now: number,
): number {
  const [row] = sql
    .exec<Row>("SELECT * FROM pending_actions WHERE event_id = ?", eventId)
    .toArray();
  const problem = problemOf(row, kind, now);
  if (!row || problem !== undefined) {
    throw new MemdirError("invalid_request", `${field}: "${eventId.slice(0, 60)}" ${problem}`);
  }
  sql.exec(
    "UPDATE pending_actions SET state = ?, answer = ? WHERE event_id = ?",
    answer.type,
    JSON.stringify(answer),
    eventId,
  );
  return row.turn;
}

function problemOf(row: Row | undefined, kind: ActionKind, now: number): string | undefined {
  if (!row) {
    return `is no call of this session that waits. Use the id of an event that the last session.status_idle names`;
  }
  if (row.kind !== kind) {
    return row.kind === "client"
      ? "is a call of a client-side tool: answer it with user.custom_tool_result"
      : "is a call that waits to be allowed: answer it with user.tool_confirmation";
  }
  if (row.state === "open") {
    return row.until > now ? undefined : `${WORDS.timeout}; the answer came too late`;
  }
  return WORDS[row.state] ?? "is closed already";
}

/** By the state of a row. */
const WORDS: Record<string, string> = {
  allow: "was already answered: it was allowed",
  deny: "was already answered: it was denied",
  result: "was already answered with a result",
  timeout: "was not answered within its time limit",
  closed: "was ended before it was answered, by an interrupt or with its turn",
};

/** What came of a call; undefined while it is open. Within a transaction: a deadline may have passed. */
export function actionAnswer(
  sql: SqlStorage,
  turn: number,
  callId: string,
  now: number,
): CallAnswer | undefined {
  const [row] = sql
    .exec<Row>(
      "SELECT * FROM pending_actions WHERE turn = ? AND call_id = ? ORDER BY rowid DESC LIMIT 1",
      turn,
      callId,
    )
    .toArray();
  if (!row) return undefined;
  if (row.answer !== null) return answerSchema.parse(JSON.parse(row.answer));
  if (row.state !== "open" || row.until > now) return undefined;
  const answer: CallAnswer = { type: "timeout", ms: row.until - row.announced_at };
  sql.exec(
    "UPDATE pending_actions SET state = 'timeout', answer = ? WHERE event_id = ?",
    JSON.stringify(answer),
    row.event_id,
  );
  return answer;
}

/**
 * A call has its result: what of the answer is not needed any more goes. True where the client gave the
 * result itself, so that no event has to tell it.
 */
export function closeAction(sql: SqlStorage, turn: number, callId: string): boolean {
  const [row] = sql
    .exec<{ state: string }>(
      `UPDATE pending_actions SET state = CASE state WHEN 'open' THEN 'closed' ELSE state END, answer = NULL
       WHERE turn = ? AND call_id = ? AND (state = 'open' OR answer IS NOT NULL)
       RETURNING state`,
      turn,
      callId,
    )
    .toArray();
  return row?.state === "result";
}

/** The user stops a turn: its open actions are closed; answers that are there stay. */
export function stopActions(sql: SqlStorage, turn: number): void {
  sql.exec("UPDATE pending_actions SET state = 'closed' WHERE turn = ? AND state = 'open'", turn);
}

/** A turn has ended: none of its actions is open any more. */
export function closeActions(sql: SqlStorage, turn: number): void {
  sql.exec(
    `UPDATE pending_actions SET state = CASE state WHEN 'open' THEN 'closed' ELSE state END, answer = NULL
     WHERE turn = ? AND (state = 'open' OR answer IS NOT NULL)`,
    turn,
  );
}
