// How far a session's extraction has come: the cursor, the marks of the turns after it (columns of
// theirs), and the work that is due. It is on disk with the end of the turn that asks for it, so nothing
// depends on a queue message arriving, or arriving once.

import * as z from "zod";
import { defineMemory, defineState } from "../../../src/platform/state.ts";
import { measureTurns } from "../../../src/platform/threads/entries.ts";
import type { MarkedTurn, NextBatch } from "../../../src/shared/extraction/batch.ts";
import { markOf, nextBatch } from "../../../src/shared/extraction/batch.ts";
import {
  EXTRACTION_BATCH_MESSAGES,
  RESEND_FIRST_MS,
  RESEND_MOST_MS,
} from "../../../src/shared/limits/extraction.ts";
import type { LoopOutcome } from "../../../src/shared/loop/steps.ts";
import { BYTES_PER_TOKEN } from "../../../src/shared/thread/tokens.ts";
import { statesNothing } from "./recalls.ts";
import { mainThread } from "./session-threads.ts";

const schema = z.object({
  /** Turns up to this number are done with. It only grows. */
  cursor: z.number(),
  /** Turns after the cursor that are marked as due. */
  due: z.number(),
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
  due: 0,
  requested: 0,
  sends: 0,
  resendAt: null,
  failures: 0,
  outages: 0,
  lease: null,
};

const state = defineState("extraction", schema, NONE);
/** What this instance has asked for and nobody has begun yet. */
const asked = defineMemory<number>();

export function readExtraction(sql: SqlStorage): ExtractionState {
  return state.read(sql);
}

export function changeExtraction(sql: SqlStorage, change: Partial<ExtractionState>): void {
  state.write(sql, { ...state.read(sql), ...change });
}

/** The same for what may be forgotten: it is on disk with the next transaction. */
export function noteExtraction(sql: SqlStorage, change: Partial<ExtractionState>): void {
  state.note(sql, { ...state.read(sql), ...change });
}

/** The main agent changed its memory in this turn. Within the transaction that records the change. */
export function markWrote(sql: SqlStorage, turn: number): void {
  sql.exec("UPDATE turns SET wrote = 1 WHERE n = ?", turn);
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
  const [row] = sql.exec<{ wrote: number }>("SELECT wrote FROM turns WHERE n = ?", turn).toArray();
  const isQuiet = statesNothing(sql, turn) && !heardMore(sql, turn);
  const mark = markOf(outcome, row?.wrote === 1, isQuiet);
  // Summed once, here: what is due is looked at several times a turn.
  const { entries, bytes } = measureTurns(mainThread(sql), { first: turn, last: turn });
  sql.exec(
    "UPDATE turns SET mark = ?, messages = ?, tokens = ? WHERE n = ?",
    mark,
    entries,
    Math.floor(bytes / BYTES_PER_TOKEN) + 1,
    turn,
  );
  if (mark === "due") changeExtraction(sql, { due: readExtraction(sql).due + 1 });
  passOver(sql);
  if (mark === "written") return "already_written";
  if (mark === "open" || mark === "quiet") return undefined;
  if (rules.overBudget) return "budget";
  if (readExtraction(sql).due >= rules.everyTurns) requestExtraction(sql, turn, now);
  return undefined;
}

/**
 * Whether somebody said more in a turn than its message: a message that joined it, the result of a
 * client's tool (which may have asked a person), the answer to a call that waited. The search has seen
 * none of these. What the agent's own tools found is not the user's word, and asks for nothing.
 */
function heardMore(sql: SqlStorage, turn: number): boolean {
  const more = sql.exec(
    `SELECT 1 FROM events WHERE seq > (SELECT event_seq FROM turns WHERE n = ?) AND type IN
       ('turn.joined', 'user.custom_tool_result', 'user.tool_result', 'user.tool_confirmation')
     LIMIT 1`,
    turn,
  );
  return more.toArray().length > 0;
}

/** Asks for an extraction of all turns up to this one; a newer request takes the older one's place. */
function requestExtraction(sql: SqlStorage, upTo: number, now: number): void {
  const { requested } = readExtraction(sql);
  if (upTo <= requested) return;
  changeExtraction(sql, { requested: upTo, sends: 0, resendAt: now });
  asked.set(sql, upTo);
}

/**
 * Whether this instance asked for what is due itself and it is tried for the first time: then its beginning
 * need not be on disk before it, and deaths are counted from the second try on.
 */
export function takeFirstTry(sql: SqlStorage): boolean {
  const own = asked.get(sql) === readExtraction(sql).requested;
  asked.set(sql, undefined);
  return own;
}

/** A queue message was sent: when the next one is due if nothing comes of it. Forgotten, it is sent again. */
export function noteSent(sql: SqlStorage, now: number): void {
  const { sends } = readExtraction(sql);
  const pause = Math.min(RESEND_FIRST_MS * 2 ** sends, RESEND_MOST_MS);
  noteExtraction(sql, { sends: sends + 1, resendAt: now + pause });
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
      "SELECT n AS turn FROM turns WHERE n > ? AND mark IS NOT NULL ORDER BY n DESC LIMIT 1",
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
  moveCursor(sql, last);
  changeExtraction(sql, { failures: 0, outages: 0, sends: 0 });
  passOver(sql);
  const { requested, cursor, lease } = readExtraction(sql);
  const more = requested > cursor && dueBatch(sql, false) !== undefined;
  const left = lease === null ? null : now + RESEND_FIRST_MS;
  changeExtraction(sql, { resendAt: more ? now : left });
}

/**
 * The lease is somebody else's now. Where nothing is due, nobody has to come back. Forgotten, it is
 * given back again, which does nothing.
 */
export function noteLeaseGiven(sql: SqlStorage): void {
  const { requested, cursor, resendAt } = readExtraction(sql);
  noteExtraction(sql, { lease: null, resendAt: requested > cursor ? resendAt : null });
}

/** Moves the cursor over turns that need no extraction. */
function passOver(sql: SqlStorage): void {
  const { cursor } = nextBatch(marksAfterCursor(sql));
  if (cursor !== undefined) moveCursor(sql, cursor);
}

/** Forward only; the turns that it passes are not due any more. */
function moveCursor(sql: SqlStorage, to: number): void {
  const { cursor, due } = readExtraction(sql);
  if (to <= cursor) return;
  const { passed } = sql
    .exec<{ passed: number }>(
      "SELECT count(*) AS passed FROM turns WHERE n > ? AND n <= ? AND mark = 'due'",
      cursor,
      to,
    )
    .one();
  changeExtraction(sql, { cursor: to, due: due - passed });
}

/** The first ended turns after the cursor, in order: more than a batch can hold. */
function marksAfterCursor(sql: SqlStorage): MarkedTurn[] {
  const { cursor } = readExtraction(sql);
  const rows = sql.exec<{ turn: number; mark: string; messages: number; tokens: number }>(
    `SELECT n AS turn, mark, messages, tokens FROM turns
     WHERE n > ? AND mark IS NOT NULL ORDER BY n LIMIT ?`,
    cursor,
    MARKS_MOST,
  );
  return [...rows].map(({ turn, mark, messages, tokens }) => ({
    n: turn,
    mark: mark === "due" || mark === "written" || mark === "quiet" ? mark : "open",
    messages,
    tokens,
  }));
}
