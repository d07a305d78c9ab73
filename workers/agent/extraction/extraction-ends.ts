// What comes of a batch: it is saved, given up, or tried again later. Each is one transaction: cursor,
// event and log, or none of them.

import { log } from "../../../src/platform/log.ts";
import { changeProgress } from "../../../src/platform/threads/progress.ts";
import type { ThreadContext } from "../../../src/platform/threads/thread.ts";
import type { TurnEventDraft } from "../../../src/shared/events/event.ts";
import { savedEvent } from "../../../src/shared/events/memory.ts";
import type { Batch } from "../../../src/shared/extraction/batch.ts";
import type { Receipt } from "../../../src/shared/files/receipt.ts";
import {
  EXTRACTION_ATTEMPTS,
  RESEND_FIRST_MS,
  RESEND_MOST_MS,
} from "../../../src/shared/limits/extraction.ts";
import { RETRY_FIRST_MS } from "../../../src/shared/limits/turn.ts";
import type { FailureKind } from "../../../src/shared/loop/model.ts";
import type { LoopOutcome } from "../../../src/shared/loop/steps.ts";
import { outageError } from "../contract/session-errors.ts";
import { appendEvent } from "../rows/events.ts";
import {
  advanceCursor,
  changeExtraction,
  dueBatch,
  readExtraction,
} from "../rows/extraction-state.ts";
import { readMeta } from "../rows/meta.ts";
import type { RunLog } from "../rows/run-log.ts";
import { withSaved } from "../rows/run-log.ts";
import type { Run } from "../rows/runs.ts";
import { changeLog, endRun, isUnfinished, newestRun, unfinishedRun } from "../rows/runs.ts";
import { FORK_TURN } from "../rows/session-threads.ts";
import { turnByNumber } from "../rows/turns.ts";

export type Ended = { status: "done" } | { status: "retry"; afterMs: number };

/** How a fork's run ended. `failure`: why the model's last call failed, where one did. */
export interface ForkEnd {
  outcome: LoopOutcome;
  failure?: FailureKind | undefined;
  /** The process died at one step of it again and again. */
  died?: boolean;
  /** Somebody turned the memory off while it ran. */
  off?: boolean;
}

/** Refusals that one event lists. */
const REFUSALS_LISTED = 10;
/** Runs of a batch that meet an outage before an event says so: more than a moment's hiccup. */
const OUTAGES_REPORTED = 3;
/** Calls that failed so say nothing about what was asked. */
const UNSERVED: ReadonlySet<FailureKind> = new Set([
  "denied",
  "cut",
  "stalled",
  "overloaded",
  "rate_limited",
  "server_error",
  "unreachable",
]);

/**
 * The oldest turns that are due. One that was begun stays as it is until it is done with, also where its
 * run failed: a turn that came later has no part in that. `tokens`: what a new one may hold.
 */
export function batchDue(sql: SqlStorage, final: boolean, tokens?: number): Batch | undefined {
  const begun = newestRun(sql, "extraction");
  const { cursor } = readExtraction(sql);
  if (!begun || begun.lastTurn <= cursor) return dueBatch(sql, final, tokens);
  return { first: Math.max(begun.firstTurn, cursor + 1), last: begun.lastTurn };
}

/**
 * The one step in which a run becomes part of the session. Does nothing for one that has ended. Within a
 * transaction.
 */
export function settle(
  sql: SqlStorage,
  run: Run,
  healed: readonly Receipt[],
  outcome: LoopOutcome,
  now: number,
): void {
  const begun = unfinishedRun(sql, "extraction");
  const { memory } = readMeta(sql);
  if (begun?.n !== run.n || !memory.enabled) return;
  const { saved, ...rest } = withSaved(begun.log, healed);
  changeLog(sql, run, () => ({ ...rest, saved }));
  endRun(sql, "extraction", saved.length > 0 ? outcome.reason : "nothing_new", now);
  const turn_id = turnByNumber(sql, run.lastTurn).eventId;
  const writes = refusedWrites(rest);
  const refused = writes.length > 0 ? writes : undefined;
  const event: TurnEventDraft =
    saved.length > 0
      ? { ...savedEvent("extraction", memory.storeId, saved), refused }
      : {
          type: "memory.skipped",
          by: "extraction",
          reason: refused ? "failed" : "nothing_new",
          refused,
        };
  appendEvent(sql, { ...event, turn_id }, now);
  advanceCursor(sql, run.lastTurn, now);
}

/** What a run wanted to save and was refused, and did not save otherwise, with the reasons. */
function refusedWrites({ calls }: Pick<RunLog, "calls">): { path: string; error: string }[] {
  const done = new Set(calls.flatMap(({ path, error }) => (error === undefined ? [path] : [])));
  const refused = calls.flatMap(({ tool, path, error }) =>
    (tool === "Write" || tool === "Edit") && path !== undefined && error !== undefined
      ? [{ path, error }]
      : [],
  );
  const left = refused.filter(({ path }) => !done.has(path));
  return [...new Map(left.map((each) => [each.path, each])).values()].slice(0, REFUSALS_LISTED);
}

/**
 * A batch is given up: the cursor passes it, its run ends, and events tell of that and of what it saved.
 * `gone`: the store went away, and what was saved with it.
 */
export function giveUp(
  session: ThreadContext,
  batch: Batch,
  reason: "failed" | "disabled",
  { gone = false } = {},
): void {
  const { sql } = session;
  const now = session.now();
  log("extraction.dropped", { turns: batch.last - batch.first + 1, reason });
  session.commit(() => {
    const begun = newestRun(sql, "extraction");
    const saved = begun?.lastTurn === batch.last ? begun.log.saved : [];
    endRun(sql, "extraction", reason, now);
    const turn_id = turnByNumber(sql, batch.last).eventId;
    const { memory } = readMeta(sql);
    if (!gone && saved.length > 0 && memory.enabled) {
      appendEvent(sql, { ...savedEvent("extraction", memory.storeId, saved), turn_id }, now);
    }
    appendEvent(sql, { type: "memory.skipped", by: "extraction", reason, turn_id }, now);
    // With the store its lease is gone.
    if (gone) changeExtraction(sql, { lease: null });
    advanceCursor(sql, batch.last, now);
  });
}

/**
 * A run whose model failed goes on later; one that ended without success begins anew, a fixed number
 * of times. A model that serves nobody is waited for, as long again as it was waited for already.
 */
export function failedRun(session: ThreadContext, run: Run, { outcome, failure }: ForkEnd): Ended {
  const { sql } = session;
  const again = () => {
    // The next time starts with all its tries.
    if (outcome.reason === "failed" || outcome.reason === "paused") {
      changeProgress(run.thread, FORK_TURN, { attempt: 0, outcome: undefined });
    } else if (isUnfinished(sql, run)) {
      endRun(sql, "extraction", outcome.reason, session.now());
    }
  };
  const unserved = failure !== undefined && UNSERVED.has(failure);
  if (outcome.reason === "paused" || (outcome.reason === "failed" && unserved)) {
    session.commit(() => {
      again();
      countOutage(session, run);
    });
    const waited = Math.max(session.now() - run.startedAt, 2 * RETRY_FIRST_MS);
    const afterMs = outcome.reason === "paused" ? outcome.ms : Math.min(waited, RESEND_MOST_MS);
    return { status: "retry", afterMs };
  }
  return countFailure(session, { first: run.firstTurn, last: run.lastTurn }, again);
}

/** Nothing is lost while a model serves nobody, but people should know why nothing is saved. */
function countOutage({ sql, now }: ThreadContext, run: Run): void {
  const outages = readExtraction(sql).outages + 1;
  changeExtraction(sql, { outages });
  if (outages !== OUTAGES_REPORTED) return;
  const turn_id = turnByNumber(sql, run.lastTurn).eventId;
  appendEvent(sql, { type: "session.error", error: outageError(), turn_id }, now());
}

/** One try of a batch failed; after the last one it is given up. */
export function countFailure(
  session: ThreadContext,
  batch: Batch,
  write: () => void = () => {},
): Ended {
  const { sql } = session;
  const failures = readExtraction(sql).failures + 1;
  session.commit(() => {
    changeExtraction(sql, { failures });
    write();
  });
  if (failures < EXTRACTION_ATTEMPTS) {
    return { status: "retry", afterMs: Math.min(RETRY_FIRST_MS * 2 ** failures, RESEND_FIRST_MS) };
  }
  giveUp(session, batch, "failed");
  return { status: "done" };
}
