// How far a session's extraction has come: the cursor, the marks of the turns after it, and the work
// that is due. It is on disk with the end of the turn that asks for it, so nothing depends on a queue
// message arriving, or arriving once.

import * as z from "zod";
import type { MarkedTurn, NextBatch } from "../../../src/shared/extraction/batch.ts";
import { markOf, nextBatch } from "../../../src/shared/extraction/batch.ts";
import {
  EXTRACTION_BATCH_MESSAGES,
  RESEND_FIRST_MS,
  RESEND_MOST_MS,
} from "../../../src/shared/limits/extraction.ts";
import type { LoopOutcome } from "../../../src/shared/loop/steps.ts";
import { BYTES_PER_TOKEN } from "../../../src/shared/thread/tokens.ts";

const schema = z.object({
  /** Turns up to this number are done with. It only grows. */
  cursor: z.number(),
  /** Turns up to this number are to be looked at; at or before the cursor nothing is due. */
  requested: z.number(),
  /** Queue messages since the last progress, and when the next one is due. */
  sends: z.number(),
  resendAt: z.number().nullable(),
  /** Failed runs of the batch that is due. */
  failures: z.number(),
  /** Runs of it that met an outage of the model; one event tells of it. */
  outages: z.number(),
  /** A lease that a run holds, or that a crash left behind. */
  lease: z.number().nullable(),
});

type ExtractionState = z.infer<typeof schema>;

/** A turn has a message at least. */
const MARKS_MOST = EXTRACTION_BATCH_MESSAGES + 2;

const NONE: ExtractionState = {
  cursor: 0,
  requested: 0,
  sends: 0,
  resendAt: null,
  failures: 0,
  outages: 0,
  lease: null,
};

export function readExtraction(sql: SqlStorage): ExtractionState {
  const [row] = sql.exec<{ body: string }>("SELECT body FROM extraction").toArray();
  return row ? schema.parse(JSON.parse(row.body)) : NONE;
}

export function changeExtraction(
  sql: SqlStorage,
  change: Partial<ExtractionState>,
): ExtractionState {
  const state = { ...readExtraction(sql), ...change };
  sql.exec("INSERT OR REPLACE INTO extraction (id, body) VALUES (1, ?)", JSON.stringify(state));
  return state;
}

/** The main agent changed its memory in this turn. Within the transaction that records the change. */
export function markWrote(sql: SqlStorage, turn: number): void {
  sql.exec(
    "INSERT INTO turn_marks (turn, wrote) VALUES (?, 1) ON CONFLICT (turn) DO UPDATE SET wrote = 1",
    turn,
  );
}

export interface BackgroundRules {
  /** An extraction after every so many turns that could have one; 0 turns it off. */
  everyTurns: number;
  /** The day's tokens are used up: what is due stays due. */
  overBudget: boolean;
}

/**
 * Takes in that a turn has ended: marks it, moves the cursor over what needs no extraction, and asks for an
 * extraction where one is due. Gives the reason why none follows, for people, where there is one to
 * tell. Within the transaction that ends the turn.
 */
export function endTurnMark(
  sql: SqlStorage,
  turn: number,
  outcome: LoopOutcome | undefined,
  rules: BackgroundRules,
  now: number,
): "already_written" | "budget" | undefined {
  if (rules.everyTurns === 0) return undefined;
  const [row] = sql
    .exec<{ wrote: number }>("SELECT wrote FROM turn_marks WHERE turn = ?", turn)
    .toArray();
  const mark = markOf(outcome, row?.wrote === 1);
  // Summed once, here: what is due is looked at several times a turn.
  sql.exec(
    `INSERT INTO turn_marks (turn, mark, messages, tokens)
     SELECT ?1, ?2, count(*), ifnull(sum(length(CAST(body AS BLOB))), 0) / ?3 + 1
       FROM messages WHERE thread = 'main' AND turn = ?1
     ON CONFLICT (turn) DO UPDATE SET mark = excluded.mark, messages = excluded.messages,
       tokens = excluded.tokens`,
    turn,
    mark,
    BYTES_PER_TOKEN,
  );
  passOver(sql);
  if (mark === "written") return "already_written";
  if (mark === "open") return undefined;
  if (rules.overBudget) return "budget";
  if (hasDueTurns(sql, rules.everyTurns)) requestExtraction(sql, turn, now);
  return undefined;
}

/** Asks for an extraction of all turns up to this one; a newer request takes the older one's place. */
function requestExtraction(sql: SqlStorage, upTo: number, now: number): void {
  const { requested } = readExtraction(sql);
  if (upTo > requested) changeExtraction(sql, { requested: upTo, sends: 0, resendAt: now });
}

/** A queue message was sent: when the next one is due if nothing comes of it. */
export function noteSent(sql: SqlStorage, now: number): void {
  const { sends } = readExtraction(sql);
  const pause = Math.min(RESEND_FIRST_MS * 2 ** sends, RESEND_MOST_MS);
  changeExtraction(sql, { sends: sends + 1, resendAt: now + pause });
}

/**
 * What is to be looked at next, if something is due, of at most so many tokens. `final`: no turn will
 * follow.
 */
export function dueBatch(sql: SqlStorage, final: boolean, tokens?: number): NextBatch["batch"] {
  return nextBatch(marksAfterCursor(sql), { final, tokens }).batch;
}

/** Asks for all that has ended: no turn will follow. */
export function requestAll(sql: SqlStorage, now: number): void {
  const { cursor } = readExtraction(sql);
  const [last] = sql
    .exec<{ turn: number }>(
      "SELECT turn FROM turn_marks WHERE turn > ? AND mark IS NOT NULL ORDER BY turn DESC LIMIT 1",
      cursor,
    )
    .toArray();
  if (last) requestExtraction(sql, last.turn, now);
}

/**
 * Moves the cursor over the turns up to this one, and over those after it that need no extraction. Where
 * that was all, nothing is due any more but a lease that is still to be given back. Within the
 * transaction that records what came of them.
 */
export function advanceCursor(sql: SqlStorage, last: number, now: number): void {
  const { cursor } = readExtraction(sql);
  changeExtraction(sql, { cursor: Math.max(cursor, last), failures: 0, outages: 0, sends: 0 });
  passOver(sql);
  const state = readExtraction(sql);
  const more = state.requested > state.cursor && dueBatch(sql, false) !== undefined;
  const left = state.lease === null ? null : now + RESEND_FIRST_MS;
  changeExtraction(sql, { resendAt: more ? now : left });
}

/** The lease is somebody else's now. Where nothing is due, nobody has to come back. */
export function leaseGiven(sql: SqlStorage): void {
  const { requested, cursor, resendAt } = readExtraction(sql);
  changeExtraction(sql, { lease: null, resendAt: requested > cursor ? resendAt : null });
}

/** Moves the cursor over turns that need no extraction. */
function passOver(sql: SqlStorage): void {
  const { cursor } = nextBatch(marksAfterCursor(sql));
  if (cursor !== undefined) changeExtraction(sql, { cursor });
}

/** Whether so many turns after the cursor are due. */
function hasDueTurns(sql: SqlStorage, count: number): boolean {
  const { cursor } = readExtraction(sql);
  const rows = sql.exec(
    "SELECT 1 FROM turn_marks WHERE mark = 'due' AND turn > ? LIMIT ?",
    cursor,
    count,
  );
  return rows.toArray().length >= count;
}

/** The first ended turns after the cursor, in order: more than a batch can hold. */
function marksAfterCursor(sql: SqlStorage): MarkedTurn[] {
  const { cursor } = readExtraction(sql);
  const rows = sql.exec<{ turn: number; mark: string; messages: number; tokens: number }>(
    `SELECT turn, mark, messages, tokens FROM turn_marks
     WHERE turn > ? AND mark IS NOT NULL ORDER BY turn LIMIT ?`,
    cursor,
    MARKS_MOST,
  );
  return [...rows].map(({ turn, mark, messages, tokens }) => ({
    n: turn,
    mark: mark === "due" || mark === "written" ? mark : "open",
    messages,
    tokens,
  }));
}
