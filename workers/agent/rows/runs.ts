// The runs of background forks: what each was to look at, what it did and how it ended, for people. Its
// conversation is a thread, which goes with the run's end; its log stays.

import { appendEntry } from "../../../src/platform/threads/entries.ts";
import { readProgress } from "../../../src/platform/threads/progress.ts";
import type { Thread } from "../../../src/platform/threads/thread.ts";
import { clearThread } from "../../../src/platform/threads/thread.ts";
import type { Receipt } from "../../../src/shared/files/receipt.ts";
import { textDraft } from "../../../src/shared/thread/entry.ts";
import type { RunLog } from "./run-log.ts";
import { logOf, readLog } from "./run-log.ts";
import { FORK_TURN, forkThread } from "./session-threads.ts";

export interface Run {
  n: number;
  thread: Thread;
  firstTurn: number;
  lastTurn: number;
  log: RunLog;
  /** How it ended, in words that people read. */
  outcome: string | undefined;
  startedAt: number;
  endedAt: number | undefined;
}

type Row = {
  n: number;
  purpose: string;
  first_turn: number;
  last_turn: number;
  log: string;
  outcome: string | null;
  started_at: number;
  ended_at: number | null;
};

/** Begins a run with its task. Within a transaction. */
export function beginRun(
  sql: SqlStorage,
  purpose: string,
  turns: { first: number; last: number },
  task: string,
  now: number,
): Run {
  const row = sql
    .exec<Row>(
      `INSERT INTO runs (purpose, first_turn, last_turn, log, started_at) VALUES (?, ?, ?, ?, ?)
       RETURNING *`,
      purpose,
      turns.first,
      turns.last,
      JSON.stringify({ calls: [], saved: [] }),
      now,
    )
    .one();
  const run = runOf(sql, row);
  appendEntry(run.thread, FORK_TURN, textDraft({ type: "task" }, task));
  return run;
}

/** How many answers the model has given in a run. */
export function iterationsOf({ thread }: Run): number {
  return readProgress(thread, FORK_TURN).iteration;
}

/** The run of a purpose that has not ended. */
export function unfinishedRun(sql: SqlStorage, purpose: string): Run | undefined {
  const [row] = sql
    .exec<Row>(
      "SELECT * FROM runs WHERE purpose = ? AND ended_at IS NULL ORDER BY n DESC LIMIT 1",
      purpose,
    )
    .toArray();
  return row && runOf(sql, row);
}

/** Whether this run has not ended: whoever ends it decides on its turns. */
export function isUnfinished(sql: SqlStorage, n: number): boolean {
  return sql.exec("SELECT 1 FROM runs WHERE n = ? AND ended_at IS NULL", n).toArray().length > 0;
}

/** The turns of the newest run of a purpose. */
export function newestRange(
  sql: SqlStorage,
  purpose: string,
): { first: number; last: number } | undefined {
  const [row] = sql
    .exec<{ first_turn: number; last_turn: number }>(
      "SELECT first_turn, last_turn FROM runs WHERE purpose = ? ORDER BY n DESC LIMIT 1",
      purpose,
    )
    .toArray();
  return row && { first: row.first_turn, last: row.last_turn };
}

/** How many runs of a purpose in a turn have ended so, none of another end after them. */
export function lastRunsEnded(
  sql: SqlStorage,
  purpose: string,
  turn: number,
  ended: (outcome: string) => boolean,
): number {
  const outcomes = sql
    .exec<{ outcome: string }>(
      `SELECT outcome FROM runs WHERE purpose = ? AND first_turn = ? AND ended_at IS NOT NULL
         ORDER BY n DESC`,
      purpose,
      turn,
    )
    .toArray();
  const other = outcomes.findIndex(({ outcome }) => !ended(outcome));
  return other < 0 ? outcomes.length : other;
}

/** What the newest run of a purpose has saved. */
export function savedByNewest(sql: SqlStorage, purpose: string): Receipt[] {
  const [row] = sql
    .exec<{ n: number }>("SELECT n FROM runs WHERE purpose = ? ORDER BY n DESC LIMIT 1", purpose)
    .toArray();
  return row ? readLog(sql, row.n).saved : [];
}

/** Runs of a purpose, newest first, before a number. */
export function listRuns(
  sql: SqlStorage,
  purpose: string,
  query: { before?: number | undefined; limit: number },
): Run[] {
  return sql
    .exec<Row>(
      "SELECT * FROM runs WHERE purpose = ? AND n < ? ORDER BY n DESC LIMIT ?",
      purpose,
      query.before ?? Number.MAX_SAFE_INTEGER,
      query.limit,
    )
    .toArray()
    .map((row) => runOf(sql, row));
}

/** Ends a run, in words that people read. */
export function endRun(sql: SqlStorage, n: number, outcome: string, now: number): void {
  sql.exec("UPDATE runs SET outcome = ?, ended_at = ? WHERE n = ?", outcome, now, n);
  clearThread(forkThread(sql, n));
}

/** A run begins, or goes on; gives back how often it died since its last step. Within a transaction. */
export function countStart(sql: SqlStorage, n: number): number {
  return (
    sql
      .exec<{ deaths: number }>(
        "UPDATE runs SET deaths = deaths + 1 WHERE n = ? RETURNING deaths",
        n,
      )
      .one().deaths - 1
  );
}

/** A run has come further, or was left on purpose. Within a transaction. */
export function forgetDeaths(sql: SqlStorage, n: number): void {
  sql.exec("UPDATE runs SET deaths = 0 WHERE n = ? AND deaths > 0", n);
}

/** Ends what a purpose has begun. Within a transaction. */
export function endUnfinished(
  sql: SqlStorage,
  purpose: string,
  outcome: string,
  now: number,
): void {
  const rows = sql.exec<{ n: number }>(
    "SELECT n FROM runs WHERE purpose = ? AND ended_at IS NULL",
    purpose,
  );
  for (const { n } of rows.toArray()) endRun(sql, n, outcome, now);
}

function runOf(sql: SqlStorage, row: Row): Run {
  return {
    n: row.n,
    thread: forkThread(sql, row.n),
    firstTurn: row.first_turn,
    lastTurn: row.last_turn,
    log: logOf(row.log),
    outcome: row.outcome ?? undefined,
    startedAt: row.started_at,
    endedAt: row.ended_at ?? undefined,
  };
}
