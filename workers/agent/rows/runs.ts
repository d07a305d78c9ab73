// The runs of forks, on disk: a run that died goes on from its last step, so that what it has done is
// not done again. Its messages go when it ends; its log stays, for people.

import * as z from "zod";
import type { Receipt } from "../../../src/platform/objects/memdir-rpc.ts";
import { callState } from "../../../src/platform/threads/calls.ts";
import { parseMessage } from "../../../src/platform/threads/entries.ts";
import { refuseLarge } from "../../../src/platform/threads/row-size.ts";
import type { ForkState } from "../../../src/shared/fork/forked-agent.ts";
import type { Message, ToolUseBlock } from "../../../src/shared/loop/messages.ts";
import type { CallState, LoopStep } from "../../../src/shared/loop/steps.ts";
import type { RunLog } from "./run-log.ts";
import { addToLog, logOf, readLog } from "./run-log.ts";

export interface Run extends ForkState {
  n: number;
  firstTurn: number;
  lastTurn: number;
  log: RunLog;
  /** Set together with the fork's last answer: only the end is left to do. */
  outcome: string | undefined;
  startedAt: number;
  endedAt: number | undefined;
}

type Row = {
  n: number;
  purpose: string;
  first_turn: number;
  last_turn: number;
  iteration: number;
  attempt: number;
  continuations: number;
  pending: string;
  log: string;
  outcome: string | null;
  started_at: number;
  ended_at: number | null;
};

/** Begins a run with its first messages. */
export function beginRun(
  sql: SqlStorage,
  purpose: string,
  turns: { first: number; last: number },
  state: ForkState,
  now: number,
): Run {
  const { n } = sql
    .exec<{ n: number }>(
      "INSERT INTO runs (purpose, first_turn, last_turn, log, started_at) VALUES (?, ?, ?, ?, ?) RETURNING n",
      purpose,
      turns.first,
      turns.last,
      JSON.stringify({ calls: [], saved: [] }),
      now,
    )
    .one();
  for (const message of state.messages) addMessage(sql, n, message);
  return runOf(sql, sql.exec<Row>("SELECT * FROM runs WHERE n = ?", n).one());
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

/** Whether this run has not ended: who ends it settles its turns. */
export function isUnfinished(sql: SqlStorage, n: number): boolean {
  return sql.exec("SELECT 1 FROM runs WHERE n = ? AND ended_at IS NULL", n).toArray().length > 0;
}

/** The turns of the newest run of a purpose. Read without its messages, which may be broken. */
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

/** How many runs of a purpose in a turn have ended so, none of another end behind them. */
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

/** What the newest run of a purpose has saved. Read without its messages, which may be broken. */
export function savedByNewest(sql: SqlStorage, purpose: string): Receipt[] {
  const [row] = sql
    .exec<{ n: number }>("SELECT n FROM runs WHERE purpose = ? ORDER BY n DESC LIMIT 1", purpose)
    .toArray();
  return row ? readLog(sql, row.n).saved : [];
}

/** Runs of a purpose, newest first, behind a number. */
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

/** Writes one step of a run. Within a transaction. */
export function recordRunStep(
  sql: SqlStorage,
  n: number,
  step: LoopStep,
  receipts: readonly Receipt[],
): void {
  switch (step.type) {
    case "answered":
      if (step.message) addMessage(sql, n, step.message);
      if (step.continuation) addMessage(sql, n, step.continuation);
      setPending(sql, n, step.calls);
      sql.exec(
        `UPDATE runs SET iteration = iteration + 1, attempt = 0, continuations = continuations + ?
         WHERE n = ?`,
        step.continuation ? 1 : 0,
        n,
      );
      if (step.outcome) {
        sql.exec("UPDATE runs SET outcome = ? WHERE n = ?", step.outcome.reason, n);
      }
      return;
    case "request_failed":
      sql.exec("UPDATE runs SET attempt = ? WHERE n = ?", step.attempt, n);
      return;
    case "call_planned":
      changeCall(sql, n, step.callId, { plan: step.plan });
      return;
    case "call_finished": {
      const call = changeCall(sql, n, step.callId, { result: step.result });
      if (call) addToLog(sql, n, call, step.result, receipts);
      return;
    }
    case "results":
      addMessage(sql, n, step.message);
      setPending(sql, n, []);
      return;
    case "joined":
      addMessage(sql, n, step.message);
      return;
    case "request_started":
    case "preview":
    case "interrupted":
      return;
  }
}

/** Ends a run, in words that people read. */
export function endRun(sql: SqlStorage, n: number, outcome: string, now: number): void {
  sql.exec(
    "UPDATE runs SET outcome = ?, ended_at = ?, pending = '[]' WHERE n = ?",
    outcome,
    now,
    n,
  );
  sql.exec("DELETE FROM run_messages WHERE run = ?", n);
}

/** Ends what a purpose has begun. Read without their rows, which may be broken. */
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

/** A failed model call was given up: the next time starts with all its tries. */
export function resetAttempts(sql: SqlStorage, n: number): void {
  sql.exec("UPDATE runs SET attempt = 0 WHERE n = ?", n);
}

function addMessage(sql: SqlStorage, run: number, message: Message): void {
  const body = JSON.stringify(message);
  refuseLarge(body, "A message of a background run");
  sql.exec("INSERT INTO run_messages (run, body) VALUES (?, ?)", run, body);
}

function setPending(sql: SqlStorage, n: number, pending: readonly CallState[]): void {
  const body = JSON.stringify(pending);
  refuseLarge(body, "The calls of a background run");
  sql.exec("UPDATE runs SET pending = ? WHERE n = ?", body, n);
}

function changeCall(
  sql: SqlStorage,
  n: number,
  id: string,
  change: Partial<CallState>,
): ToolUseBlock | undefined {
  const pending = pendingOf(
    sql.exec<{ pending: string }>("SELECT pending FROM runs WHERE n = ?", n).one().pending,
  );
  setPending(
    sql,
    n,
    pending.map((state) => (state.call.id === id ? { ...state, ...change } : state)),
  );
  return pending.find((state) => state.call.id === id)?.call;
}

function pendingOf(text: string): CallState[] {
  return z
    .array(callState)
    .parse(JSON.parse(text))
    .map(({ call, malformed, plan, result }) => ({
      call,
      ...(malformed === undefined ? {} : { malformed }),
      ...(plan === undefined ? {} : { plan }),
      ...(result === undefined ? {} : { result }),
    }));
}

function runOf(sql: SqlStorage, row: Row): Run {
  const messages = sql
    .exec<{ body: string }>("SELECT body FROM run_messages WHERE run = ? ORDER BY n", row.n)
    .toArray();
  return {
    n: row.n,
    firstTurn: row.first_turn,
    lastTurn: row.last_turn,
    messages: messages.flatMap(({ body }) => parseMessage(body) ?? []),
    pending: pendingOf(row.pending),
    iteration: row.iteration,
    attempt: row.attempt,
    continuations: row.continuations,
    log: logOf(row.log),
    outcome: row.outcome ?? undefined,
    startedAt: row.started_at,
    endedAt: row.ended_at ?? undefined,
  };
}
