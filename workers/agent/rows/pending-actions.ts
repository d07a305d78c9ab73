// Calls that a person has to allow, or that the client runs: announced with a deadline, answered once.
// The rows stay, so that an answer that comes late or twice is known as one.

import * as z from "zod";
import { MemdirError } from "../../../src/shared/errors.ts";
import type { CallAnswer } from "../../../src/shared/loop/pending-action.ts";

/** `event_id` is that of the event which announced the call; `state` is what came of it. */
export const WAITS_TABLE = `CREATE TABLE IF NOT EXISTS waits (
    event_id TEXT PRIMARY KEY, turn INTEGER NOT NULL, call_id TEXT NOT NULL, kind TEXT NOT NULL,
    announced_at INTEGER NOT NULL, until INTEGER NOT NULL, state TEXT NOT NULL DEFAULT 'open',
    answer TEXT)`;

/** Who answers: a person, by allowing or denying, or the client, by a result. */
export type WaitKind = "approval" | "client";

/** How long an answer is waited for, in milliseconds. */
export type WaitLimits = Record<WaitKind, number>;

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

/** A call is announced and waits from now on. */
export function addWait(
  sql: SqlStorage,
  wait: { eventId: string; turn: number; callId: string; kind: WaitKind; until: number },
  now: number,
): void {
  sql.exec(
    "INSERT INTO waits (event_id, turn, call_id, kind, announced_at, until) VALUES (?, ?, ?, ?, ?, ?)",
    wait.eventId,
    wait.turn,
    wait.callId,
    wait.kind,
    now,
    wait.until,
  );
}

/** Ids of the events whose calls still wait, and the first deadline among them. */
export function openWaits(
  sql: SqlStorage,
  turn: number,
): { eventIds: string[]; until: number | undefined } {
  const rows = sql
    .exec<{ event_id: string; until: number }>(
      "SELECT event_id, until FROM waits WHERE turn = ? AND state = 'open' ORDER BY rowid",
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
export function answerWait(
  sql: SqlStorage,
  field: string,
  eventId: string,
  kind: WaitKind,
  answer: CallAnswer,
  now: number,
): number {
  const [row] = sql.exec<Row>("SELECT * FROM waits WHERE event_id = ?", eventId).toArray();
  const problem = problemOf(row, kind, now);
  if (!row || problem !== undefined) {
    throw new MemdirError("invalid_request", `${field}: "${eventId.slice(0, 60)}" ${problem}`);
  }
  sql.exec(
    "UPDATE waits SET state = ?, answer = ? WHERE event_id = ?",
    answer.type,
    JSON.stringify(answer),
    eventId,
  );
  return row.turn;
}

function problemOf(row: Row | undefined, kind: WaitKind, now: number): string | undefined {
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
export function waitAnswer(
  sql: SqlStorage,
  turn: number,
  callId: string,
  now: number,
): CallAnswer | undefined {
  const [row] = sql
    .exec<Row>(
      "SELECT * FROM waits WHERE turn = ? AND call_id = ? ORDER BY rowid DESC LIMIT 1",
      turn,
      callId,
    )
    .toArray();
  if (!row) return undefined;
  if (row.answer !== null) return answerSchema.parse(JSON.parse(row.answer));
  if (row.state !== "open" || row.until > now) return undefined;
  const answer: CallAnswer = { type: "timeout", ms: row.until - row.announced_at };
  sql.exec(
    "UPDATE waits SET state = 'timeout', answer = ? WHERE event_id = ?",
    JSON.stringify(answer),
    row.event_id,
  );
  return answer;
}

/**
 * A call has its result: what of the answer is not needed any more goes. Tells whether the client gave
 * the result itself, so that nobody has to tell it.
 */
export function settleWait(sql: SqlStorage, turn: number, callId: string): boolean {
  const [row] = sql
    .exec<{ state: string }>(
      `UPDATE waits SET state = CASE state WHEN 'open' THEN 'closed' ELSE state END, answer = NULL
       WHERE turn = ? AND call_id = ? AND (state = 'open' OR answer IS NOT NULL)
       RETURNING state`,
      turn,
      callId,
    )
    .toArray();
  return row?.state === "result";
}

/** The user stops a turn: nobody is asked any more; answers that are there stay. */
export function stopWaits(sql: SqlStorage, turn: number): void {
  sql.exec("UPDATE waits SET state = 'closed' WHERE turn = ? AND state = 'open'", turn);
}

/** A turn has ended: nothing of it waits any more. */
export function closeWaits(sql: SqlStorage, turn: number): void {
  sql.exec(
    `UPDATE waits SET state = CASE state WHEN 'open' THEN 'closed' ELSE state END, answer = NULL
     WHERE turn = ? AND (state = 'open' OR answer IS NOT NULL)`,
    turn,
  );
}
