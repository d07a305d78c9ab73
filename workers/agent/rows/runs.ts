// The runs of background forks: what each was to look at, what it did and how it ended, for people. While
// one runs it is state, and its conversation a thread, which goes with its end; then it is a row.

import * as z from "zod";
import { defineState } from "../../../src/platform/state.ts";
import { callById } from "../../../src/platform/threads/calls.ts";
import { clearThread } from "../../../src/platform/threads/clear-thread.ts";
import { readProgress } from "../../../src/platform/threads/progress.ts";
import type { Thread } from "../../../src/platform/threads/thread.ts";
import type { StepHook } from "../../../src/shared/loop/steps.ts";
import { textDraft } from "../../../src/shared/thread/entry.ts";
import type { RunLog } from "./run-log.ts";
import { logOf, logSchema, withCall } from "./run-log.ts";
import { FORK_TURN, forkThread } from "./session-threads.ts";

/** One of the tables of a session. */
export const RUNS_TABLE = `CREATE TABLE IF NOT EXISTS runs (
    purpose TEXT NOT NULL, n INTEGER NOT NULL, first_turn INTEGER NOT NULL,
    last_turn INTEGER NOT NULL, outcome TEXT NOT NULL, iterations INTEGER NOT NULL,
    started_at INTEGER NOT NULL, ended_at INTEGER NOT NULL, log TEXT NOT NULL,
    PRIMARY KEY (purpose, n)) WITHOUT ROWID`;

/** What a fork is run for. */
export type RunPurpose = "extraction" | "session-notes";

const startSchema = z.object({
  /** The newest change of the memory then: what others change after it is not the run's to write. */
  since: z.number(),
  /** The last turn of the conversation that it is shown. */
  shownTo: z.number(),
  /** The user's words up to this turn are in what its last answer was given to. It grows. */
  heard: z.number(),
  /** The same, and in the results of that answer's calls so far. */
  told: z.number(),
});
/** What a run knew when it began. One that is gone on with keeps it. */
export type RunStart = z.infer<typeof startSchema>;

export interface Run {
  n: number;
  purpose: RunPurpose;
  thread: Thread;
  firstTurn: number;
  lastTurn: number;
  log: RunLog;
  /** Of a run that has not ended, where it goes by it. */
  start?: RunStart | undefined;
  /** How it ended, in words that people read. */
  outcome: string | undefined;
  /** Answers that the model has given. */
  iterations: number;
  startedAt: number;
  endedAt: number | undefined;
}

const unfinished = defineState(
  "run",
  z
    .object({
      n: z.number(),
      firstTurn: z.number(),
      lastTurn: z.number(),
      startedAt: z.number(),
      /** Times that the process died since its last step. */
      deaths: z.number(),
      log: logSchema,
      start: startSchema.optional(),
    })
    .nullable(),
  null,
);
/** The number of the newest run, of whatever purpose. */
const newest = defineState("runs", z.number(), 0);

const endedSchema = z.object({
  purpose: z.string(),
  n: z.number(),
  firstTurn: z.number(),
  lastTurn: z.number(),
  outcome: z.string(),
  iterations: z.number(),
  startedAt: z.number(),
  endedAt: z.number(),
});
type Ended = z.infer<typeof endedSchema>;

/** Most runs end without a call. So many of them are state until they become rows together. */
const QUIET_RUNS = 4;
const quiet = defineState("quiet runs", z.array(endedSchema), []);
const NO_LOG: RunLog = { calls: [], saved: [] };

type Row = {
  n: number;
  first_turn: number;
  last_turn: number;
  log: string;
  outcome: string;
  iterations: number;
  started_at: number;
  ended_at: number;
};

/**
 * Begins a run, and starts it. Its task goes to disk with the first step that it takes (`withTask`).
 * `how`: "note" where a death before that may forget it. Within a transaction.
 */
export function beginRun(
  sql: SqlStorage,
  purpose: RunPurpose,
  turns: { first: number; last: number },
  now: number,
  how: "write" | "note" = "write",
  start?: RunStart,
): Run {
  const n = newest.read(sql) + 1;
  newest[how](sql, n);
  const log = { calls: [], saved: [] };
  const { first: firstTurn, last: lastTurn } = turns;
  const run = { n, firstTurn, lastTurn, startedAt: now, deaths: 1, log, start };
  unfinished[how](sql, run, purpose);
  const thread = forkThread(sql, n);
  return { ...run, purpose, thread, outcome: undefined, iterations: 0, endedAt: undefined };
}

/** A run whose thread has not begun, with what it is to do and the files that it knows: etags by path. */
export function withTask(
  run: Run,
  task: string,
  known: ReadonlyMap<string, string> = new Map(),
): Run {
  const opening = { draft: textDraft({ type: "task" }, task), known };
  return { ...run, thread: { ...run.thread, opening } };
}

/** The run of a purpose that has not ended. */
export function unfinishedRun(sql: SqlStorage, purpose: RunPurpose): Run | undefined {
  const run = unfinished.read(sql, purpose);
  if (!run) return undefined;
  const thread = forkThread(sql, run.n);
  const { iteration } = readProgress(thread, FORK_TURN);
  return { ...run, purpose, thread, outcome: undefined, iterations: iteration, endedAt: undefined };
}

/** Whether this run has not ended: whoever ends it decides on its turns. */
export function isUnfinished(sql: SqlStorage, { purpose, n }: Pick<Run, "purpose" | "n">): boolean {
  return unfinished.read(sql, purpose)?.n === n;
}

/** The newest run of a purpose. */
export function newestRun(sql: SqlStorage, purpose: RunPurpose): Run | undefined {
  return listRuns(sql, purpose, { limit: 1 })[0];
}

/** How many runs of a purpose in a turn have ended so, none of another end after them. */
export function lastRunsEnded(
  sql: SqlStorage,
  purpose: RunPurpose,
  turn: number,
  ended: (outcome: string) => boolean,
): number {
  let before: number | undefined;
  for (let count = 0; ; count += 1) {
    const [run] = endedRuns(sql, purpose, { before, limit: 1 });
    if (run?.firstTurn !== turn || !ended(run.outcome ?? "")) return count;
    before = run.n;
  }
}

/** Runs of a purpose, newest first, before a number. */
export function listRuns(
  sql: SqlStorage,
  purpose: RunPurpose,
  { before = Number.MAX_SAFE_INTEGER, limit }: { before?: number | undefined; limit: number },
): Run[] {
  const run = unfinishedRun(sql, purpose);
  const running = run && run.n < before ? [run] : [];
  return [...running, ...endedRuns(sql, purpose, { before, limit: limit - running.length })];
}

function endedRuns(
  sql: SqlStorage,
  purpose: RunPurpose,
  { before = Number.MAX_SAFE_INTEGER, limit }: { before?: number | undefined; limit: number },
): Run[] {
  const kept = quiet
    .read(sql)
    .filter((run) => run.purpose === purpose && run.n < before)
    .map((run): Run => ({ ...run, purpose, thread: forkThread(sql, run.n), log: NO_LOG }));
  const rows = sql
    .exec<Row>(
      "SELECT * FROM runs WHERE purpose = ? AND n < ? ORDER BY n DESC LIMIT ?",
      purpose,
      before,
      limit,
    )
    .toArray()
    .map(
      (row): Run => ({
        n: row.n,
        purpose,
        thread: forkThread(sql, row.n),
        firstTurn: row.first_turn,
        lastTurn: row.last_turn,
        log: logOf(row.log),
        outcome: row.outcome,
        iterations: row.iterations,
        startedAt: row.started_at,
        endedAt: row.ended_at,
      }),
    );
  return [...kept, ...rows].toSorted((one, other) => other.n - one.n).slice(0, limit);
}

/** Ends the run of a purpose, in words that people read; without one it does nothing. Within a transaction. */
export function endRun(sql: SqlStorage, purpose: RunPurpose, outcome: string, now: number): void {
  const run = unfinishedRun(sql, purpose);
  if (!run) return;
  const { n, firstTurn, lastTurn, iterations, startedAt, log } = run;
  const ended = { purpose, n, firstTurn, lastTurn, outcome, iterations, startedAt, endedAt: now };
  if (log.calls.length > 0 || log.saved.length > 0) addRow(sql, ended, log);
  else addQuiet(sql, ended);
  unfinished.clear(sql, purpose);
  clearThread(run.thread);
}

function addQuiet(sql: SqlStorage, ended: Ended): void {
  const runs = [...quiet.read(sql), ended];
  if (runs.length >= QUIET_RUNS) for (const run of runs) addRow(sql, run, NO_LOG);
  quiet.write(sql, runs.length >= QUIET_RUNS ? [] : runs);
}

function addRow(sql: SqlStorage, run: Ended, log: RunLog): void {
  sql.exec(
    `INSERT INTO runs
       (purpose, n, first_turn, last_turn, outcome, iterations, started_at, ended_at, log)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    run.purpose,
    run.n,
    run.firstTurn,
    run.lastTurn,
    run.outcome,
    run.iterations,
    run.startedAt,
    run.endedAt,
    JSON.stringify(log),
  );
}

/** A run goes on; gives back how often it died since its last step. Within a transaction. */
export function countStart(sql: SqlStorage, purpose: RunPurpose): number {
  const run = unfinished.read(sql, purpose);
  if (!run) return 0;
  unfinished.write(sql, { ...run, deaths: run.deaths + 1 }, purpose);
  return run.deaths;
}

/** Changes what a run that has not ended knows. Within a transaction. */
export function changeStart(
  sql: SqlStorage,
  { purpose, n }: Pick<Run, "purpose" | "n">,
  start: RunStart,
): void {
  const run = unfinished.read(sql, purpose);
  if (run?.n === n) unfinished.write(sql, { ...run, start }, purpose);
}

/** A run has come further, or was left on purpose. Within a transaction. */
export function forgetDeaths(sql: SqlStorage, { purpose, n }: Pick<Run, "purpose" | "n">): void {
  const run = unfinished.read(sql, purpose);
  if (run?.n === n && run.deaths > 0) unfinished.write(sql, { ...run, deaths: 0 }, purpose);
}

/** Changes the log of a run that has not ended. Within a transaction. */
export function changeLog(
  sql: SqlStorage,
  { purpose, n }: Pick<Run, "purpose" | "n">,
  change: (log: RunLog) => RunLog,
): void {
  const run = unfinished.read(sql, purpose);
  if (run?.n === n) unfinished.write(sql, { ...run, log: change(run.log) }, purpose);
}

/** Keeps what the calls of a fork came to, and what it saved. */
export function runLogHook(sql: SqlStorage, run: Run): StepHook {
  return {
    record(step) {
      if (step.type !== "call_finished") return;
      const call = callById(run.thread, step.callId);
      if (call) changeLog(sql, run, (log) => withCall(log, call, step.result));
    },
  };
}
