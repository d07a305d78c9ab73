// What a session does by itself: the turn that is due, or a compaction that was asked for, one at a
// time, and what follows from turns. All of it is on disk: an instance that died is gone on from by
// the next request, or by the alarm, which is set while anything is due.

import { errorName, log } from "../../../src/platform/log.ts";
import type { ExtractReply } from "../../../src/platform/objects/session-rpc.ts";
import { within } from "../../../src/platform/sleep.ts";
import { keepNoted } from "../../../src/platform/state.ts";
import { variablesOf } from "../../../src/platform/variables.ts";
import { BUDGET_MS, STEP_DEATHS } from "../../../src/shared/limits/turn.ts";
import type { LoopOutcome } from "../../../src/shared/loop/steps.ts";
import type { AgentEnv } from "../../env.ts";
import { settleLosses } from "../erasing/settle-losses.ts";
import { dropBatch } from "../extraction/extract.ts";
import { createSessionNotes } from "../notes/session-notes.ts";
import type { Turn } from "../rows/turns.ts";
import { currentTurn } from "../rows/turns.ts";
import type { SessionContext } from "../setup/session-context.ts";
import { countedFiles } from "../setup/subrequests.ts";
import type { PreviewFrame } from "../stream/preview.ts";
import { finishTurn, startTurn } from "../turn/finish-turn.ts";
import { runTurn } from "../turn/run-turn.ts";
import { createBackground } from "./background.ts";
import { compactIdle, compactionDue } from "./compact-request.ts";
import type { Running } from "./drain.ts";
import { drain, stopAll } from "./drain.ts";
import { nextAlarm } from "./next-alarm.ts";
import type { Reports } from "./report.ts";

interface WorkSurroundings {
  ctx: Pick<DurableObjectState, "storage" | "waitUntil">;
  env(): AgentEnv;
  /** Runs a function as one transaction, then wakes the subscribers. */
  commit<T>(write: () => T): T;
  preview(frames: readonly PreviewFrame[]): void;
  /** `deleting`: nothing new begins. `gone`: there are no rows any more. */
  state(): "alive" | "deleting" | "gone";
}

export interface SessionWork {
  /** Starts what is due, if nothing runs. Never waits. `asked`: the question what was lost, if it was put. */
  startDue(asked?: Promise<void>): void;
  /** Sets the alarm to when something is next due. */
  setAlarm(): void;
  /** The alarm has fired. */
  onAlarm(): void;
  /** A request has come: what it starts runs in an invocation of its own. */
  onRequest(): void;
  /** The number of the turn that runs, from the moment in which it is begun. */
  runningTurn(): number | undefined;
  /** What the account is told for its list. */
  reports: Pick<Reports, "changed" | "toldByReply" | "tell" | "due">;
  /** The user's interrupt. */
  interrupt(): void;
  /** Resolves when what runs now has ended; undefined where nothing runs. */
  done(): Promise<void> | undefined;
  /** Runs the extraction that is due. */
  extract(): Promise<ExtractReply>;
  dropExtraction(upTo?: number): void;
  /** Finishes what runs and what follows from it, at most so long. */
  drain(drainMs: number): Promise<void>;
  /** Stops what runs, and drops what is due: when it resolves nothing of it comes any more. */
  stop(): Promise<void>;
  /** Takes in what the memory directory lost. */
  settleLosses(): Promise<void>;
}

export function createSessionWork(around: WorkSurroundings): SessionWork {
  const { ctx, commit } = around;
  const { sql } = ctx.storage;
  const subrequests = { used: 0 };
  let running: Running | undefined;
  let alarmAt: number | undefined;

  const session: SessionContext = {
    sql,
    get env() {
      const env = around.env();
      return { ...env, FILES: countedFiles(env.FILES, subrequests) };
    },
    get settings() {
      return variablesOf(around.env());
    },
    get notes() {
      return notes;
    },
    commit,
    preview: around.preview,
    now: () => Date.now(),
    settleLosses: () => settleLosses(session),
    overBudget: () => background.overBudget(),
    waitUntil: (work) => ctx.waitUntil(work),
    // Its tokens are reported, and what waits for it begins.
    ended: () => {
      if (around.state() === "gone") return;
      ctx.waitUntil(background.reportUsage());
      startDue();
    },
    subrequests,
  };
  const background = createBackground(session, () => around.state() === "gone");
  const notes = createSessionNotes(session);
  const inFlight = () => ({ running, background, notes });

  const begin = (run: (signal: AbortSignal) => Promise<boolean>, turn: Turn | undefined) => {
    const stop = new AbortController();
    if (turn?.interrupted) stop.abort();
    const work = async () => {
      // The caller has to know of this before anything of it happens.
      await Promise.resolve();
      const ended = await run(stop.signal);
      stop.abort();
      // No await between the end of a turn and the look for the next: a message that came before is
      // seen here, one that comes later starts its turn itself.
      running = undefined;
      // What could not write its end is left to the alarm, lest it spin.
      if (ended && around.state() !== "gone") startDue();
    };
    const done = work();
    running = { stop, done, turn: turn?.n };
    ctx.waitUntil(done);
  };

  /** True when the turn's end, or its pause, is on disk. Never throws. */
  const runToEnd = async (
    turn: Turn,
    signal: AbortSignal,
    asked?: Promise<void>,
  ): Promise<boolean> => {
    try {
      let outcome: LoopOutcome | undefined;
      try {
        const deaths = commit(() => startTurn(sql, turn, session.now()));
        // Else the watchdog would wake the session into the same end for ever.
        if (deaths < STEP_DEATHS) outcome = await runTurn(session, turn, signal, asked);
        else log("session.turn_given_up", { turn: turn.n, deaths });
      } catch (error) {
        if (around.state() === "gone") return false;
        log("session.turn_failed", { error: errorName(error), turn: turn.n });
      }
      const rules = {
        everyTurns: session.settings.EXTRACTION_EVERY_TURNS,
        overBudget: (await within(BUDGET_MS, background.overBudget())) ?? false,
      };
      commit(() => finishTurn(sql, turn.n, outcome, rules, session.now()));
      return true;
    } catch (error) {
      if (around.state() === "gone") return false;
      log("session.end_not_written", { error: errorName(error), turn: turn.n });
      return false;
    }
  };

  /** True when the request is done with. Never throws. */
  const compactNow = async (signal: AbortSignal): Promise<boolean> => {
    try {
      await compactIdle(session, signal);
      return true;
    } catch (error) {
      if (around.state() === "gone") return false;
      log("session.compaction_failed", { error: errorName(error) });
      return false;
    }
  };

  function startDue(asked?: Promise<void>): void {
    if (around.state() !== "alive") return;
    const turn = running ? undefined : currentTurn(sql);
    const due = turn && (turn.interrupted || (turn.resumeAt ?? 0) <= session.now());
    if (turn && due) begin((signal) => runToEnd(turn, signal, asked), turn);
    else if (!running && compactionDue(sql)) begin(compactNow, undefined);
    background.notifyQueue();
    background.reports.tell();
    setAlarm();
  }

  /** The platform has one alarm, so it is the minimum of what is due. */
  function setAlarm(): void {
    if (around.state() === "gone") return;
    const now = session.now();
    const at = nextAlarm(
      {
        working: running !== undefined || around.state() === "deleting",
        turn: currentTurn(sql),
        notifyAt: background.notifyAt(),
        unreported: background.reports.due(),
      },
      now,
    );
    // With nothing due, an alarm that is still set fires once and finds nothing.
    if (at === undefined) return;
    if (alarmAt !== undefined && alarmAt > now && alarmAt <= at) return;
    alarmAt = at;
    ctx.waitUntil(ctx.storage.setAlarm(at));
  }

  return {
    startDue,
    setAlarm,
    onAlarm() {
      alarmAt = undefined;
      commit(() => keepNoted(sql));
      // An account that started anew meanwhile does not know that a turn runs.
      if (running) background.reports.changed();
      this.onRequest();
      ctx.waitUntil(background.reportUsage());
      startDue();
      setAlarm();
    },
    onRequest() {
      // What runs goes on in the invocation in which it began.
      if (!running) subrequests.used = 0;
    },
    runningTurn: () => running?.turn,
    reports: background.reports,
    interrupt: () => running?.stop.abort(),
    done: () => running?.done,
    extract: () => background.run(false),
    dropExtraction: (upTo) => dropBatch(session, upTo),
    drain: (drainMs) => drain(inFlight(), drainMs),
    stop: () => stopAll(inFlight()),
    settleLosses: () => settleLosses(session),
  };
}
