import { appendEntry } from "../../../src/platform/threads/entries.ts";
import { closeCalls } from "../../../src/platform/threads/record-step.ts";
import type { StopReason } from "../../../src/shared/events/session.ts";
import { STEP_DEATHS } from "../../../src/shared/limits/turn.ts";
import type { LoopOutcome } from "../../../src/shared/loop/steps.ts";
import { dayDraft } from "../../../src/shared/thread/entry.ts";
import {
  deathsError,
  iterationsError,
  refusalError,
  unexpectedError,
} from "../contract/session-errors.ts";
import { appendEvent } from "../rows/events.ts";
import type { BackgroundRules } from "../rows/extraction-state.ts";
import { endTurnMark } from "../rows/extraction-state.ts";
import { changeTimes, readMeta } from "../rows/meta.ts";
import { closeActions } from "../rows/pending-actions.ts";
import { mainThread } from "../rows/session-threads.ts";
import { dayToTell, keepTold } from "../rows/told-day.ts";
import type { Turn } from "../rows/turns.ts";
import { changeTurn, countQueuedTurns, endTurn, spokenDraft, turnByNumber } from "../rows/turns.ts";
import { usageSnapshot } from "../rows/usage.ts";
import { closeSpan } from "./events-hook.ts";
import { addActiveTime, pauseTurn } from "./pause-turn.ts";

/**
 * Begins a turn, or goes on with one: its message joins the transcript the first time only, behind its
 * date where that is a new day's first. Gives back how often the process has died since the turn's last step. Within a transaction.
 */
export function startTurn(sql: SqlStorage, turn: Turn, now: number): number {
  const resting = turn.resumeAt !== undefined;
  // A turn that runs by its row, and by nothing else, was cut off by a death.
  const deaths = turn.status === "running" && !resting ? turn.deaths + 1 : 0;
  if (turn.status === "queued") {
    const thread = mainThread(sql);
    const day = dayToTell(sql, now);
    if (day) {
      appendEntry(thread, turn.n, dayDraft(day));
      keepTold(sql, day);
    }
    appendEntry(thread, turn.n, spokenDraft(sql, turn));
  }
  if (resting || (turn.status === "queued" && !followsAnother(sql, turn))) {
    appendEvent(sql, { type: "session.status_running", turn_id: turn.eventId }, now);
  }
  changeTurn(sql, turn.n, {
    status: "running",
    resumeAt: undefined,
    startedAt: turn.startedAt ?? now,
    deaths,
  });
  return deaths;
}

/**
 * Ends a turn, or pauses it where the outcome says so; an undefined outcome is a defect of ours. Within
 * a transaction.
 */
export function finishTurn(
  sql: SqlStorage,
  n: number,
  outcome: LoopOutcome | undefined,
  background: BackgroundRules,
  now: number,
): void {
  const turn = turnByNumber(sql, n);
  if (outcome?.reason === "paused") {
    changeTurn(sql, n, { resumeAt: turn.resumeAt ?? now + outcome.ms });
    appendEvent(sql, { type: "session.status_rescheduled", turn_id: turn.eventId }, now);
    return;
  }
  if (outcome?.reason === "requires_action") {
    pauseTurn(sql, turn, now);
    return;
  }
  const thread = mainThread(sql);
  closeSpan(sql, turn, {}, now);
  closeActions(sql, n);
  if (!outcome) closeCalls(thread, n, CALL_FAILED);
  endTurn(sql, n, outcome);
  addActiveTime(sql, turn, now);
  changeTimes(sql, { updatedAt: now });
  for (const follow of FOLLOWS) follow({ sql, turn, outcome, background, now });
}

const CALL_FAILED = "The turn failed before this call was done. Look before you try it again.";

/** A turn that is over. */
interface Ended {
  sql: SqlStorage;
  turn: Turn;
  outcome: LoopOutcome | undefined;
  background: BackgroundRules;
  now: number;
}

/** Step 12: what follows from a turn, in order, on disk with its end. */
const FOLLOWS: ((ended: Ended) => void)[] = [
  reportFailure,
  askForExtraction,
  reportUsage,
  becomeIdle,
];

/** The error of an end that is not the answer's. */
function reportFailure({ sql, turn, outcome, now }: Ended): void {
  const error = endError(turn, outcome);
  if (error) appendEvent(sql, { type: "session.error", error, turn_id: turn.eventId }, now);
}

function endError({ deaths }: Turn, outcome: LoopOutcome | undefined) {
  if (!outcome) return deaths < STEP_DEATHS ? unexpectedError() : deathsError(deaths);
  if (outcome.reason === "iterations") return iterationsError(outcome.limit);
  return outcome.reason === "refusal" ? refusalError() : undefined;
}

/** What was said may be worth keeping: an extraction is due, or an event says why not. */
function askForExtraction({ sql, turn, outcome, background, now }: Ended): void {
  if (!readMeta(sql).memory.enabled) return;
  const reason = endTurnMark(sql, turn.n, outcome, background, now);
  if (reason === undefined) return;
  const turn_id = turn.eventId;
  appendEvent(sql, { type: "memory.skipped", by: "extraction", reason, turn_id }, now);
}

function reportUsage({ sql, turn, now }: Ended): void {
  const usage = usageSnapshot(sql);
  appendEvent(sql, { type: "session.usage", turn_id: turn.eventId, usage, budget: null }, now);
}

/** The session is idle when no turn is queued. */
function becomeIdle({ sql, turn, outcome, now }: Ended): void {
  if (countQueuedTurns(sql) > 0) return;
  appendEvent(
    sql,
    {
      type: "session.status_idle",
      turn_id: turn.eventId,
      stop_reason: stopReason(outcome),
      stop_details: null,
    },
    now,
  );
}

function followsAnother(sql: SqlStorage, turn: Turn): boolean {
  // The session stays "running" from one queued turn to the next.
  const [row] = sql
    .exec<{ type: string }>(
      `SELECT type FROM events WHERE type IN ('session.status_running', 'session.status_idle',
         'session.status_rescheduled') ORDER BY seq DESC LIMIT 1`,
    )
    .toArray();
  return row?.type === "session.status_running" && turn.n > 1;
}

function stopReason(outcome: LoopOutcome | undefined): StopReason {
  switch (outcome?.reason) {
    case "end_turn":
    case "interrupted":
      return { type: "end_turn" };
    case "refusal":
      return { type: "refusal" };
    case "failed":
    case "stopped":
    case "iterations":
    case "paused":
    case "requires_action":
    case undefined:
      return { type: "retries_exhausted" };
  }
}
