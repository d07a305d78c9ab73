// What a session does by itself: the turn that is due, or a compaction that was asked for, one at a
// time, and what follows from turns. All of it is on disk: an instance that died is gone on from by
// the next request, or by the alarm that stands while anything is due.

import { errorName, log } from "../../../src/platform/log.ts";
import type { ExtractReply } from "../../../src/platform/objects/session-rpc.ts";
import { within } from "../../../src/platform/sleep.ts";
import { variablesOf } from "../../../src/platform/variables.ts";
import { USAGE_REPORT_MS } from "../../../src/shared/limits/turn.ts";
import type { LoopOutcome } from "../../../src/shared/loop/steps.ts";
import type { AgentEnv } from "../../env.ts";
import { dropBatch } from "../extraction/extract.ts";
import { createSessionNotes } from "../notes/session-notes.ts";
import type { Turn } from "../rows/turns.ts";
import { currentTurn } from "../rows/turns.ts";
import { unreportedUsage } from "../rows/usage.ts";
import type { SessionContext } from "../setup/session-context.ts";
import { countedFiles } from "../setup/subrequests.ts";
import type { PreviewFrame } from "../stream/preview.ts";
import { finishTurn, startTurn } from "../turn/finish-turn.ts";
import { runTurn } from "../turn/run-turn.ts";
import { createBackground } from "./background.ts";
import { compactIdle, compactionDue } from "./compact-request.ts";
import { nextAlarm } from "./next-alarm.ts";
import { stopWork, workOff } from "./session-end.ts";

export interface WorkSurroundings {
  ctx: Pick<DurableObjectState, "storage" | "waitUntil">;
  env(): AgentEnv;
  /** Runs a function as one transaction and tells the subscribers afterwards. */
  commit<T>(write: () => T): T;
  preview(frames: readonly PreviewFrame[]): void;
  /** `deleting`: nothing new begins. `gone`: there are no rows any more. */
  state(): "alive" | "deleting" | "gone";
}

export interface SessionWork {
  /** Starts what is due, if nothing runs. Never waits. */
  kick(): void;
  /** Sets the alarm to when something is next due. */
  arm(): void;
  /** The alarm has fired. */
  alarmed(): void;
  /** A request has come: what it starts runs in an invocation of its own. */
  invoked(): void;
  /** The user's interrupt. */
  interrupt(): void;
  /** Settles when what runs now has ended. */
  done(): Promise<void> | undefined;
  /** Runs the extraction that is due. */
  extract(): Promise<ExtractReply>;
  dropExtraction(upTo?: number): void;
  /** Waits for what runs and for what follows from it, at most so long; `stop` ends what is left. */
  settle(drainMs: number, stop: boolean): Promise<void>;
}

/** A turn, or a compaction between two turns. */
interface Active {
  stop: AbortController;
  done: Promise<void>;
}

export function createSessionWork(around: WorkSurroundings): SessionWork {
  const { ctx, commit } = around;
  const { sql } = ctx.storage;
  const subrequests = { used: 0 };
  let active: Active | undefined;
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
    overBudget: () => background.overBudget(),
    waitUntil: (work) => ctx.waitUntil(work),
    // Its tokens are told, and what waits for it begins.
    ended: () => {
      if (around.state() === "gone") return;
      ctx.waitUntil(background.report());
      kick();
    },
    subrequests,
  };
  const background = createBackground(session);
  const notes = createSessionNotes(session);
  const behind = { background, notes };

  const begin = (run: (signal: AbortSignal) => Promise<boolean>, interrupted: boolean) => {
    const stop = new AbortController();
    if (interrupted) stop.abort();
    const work = async () => {
      // The caller has to know of this before anything of it happens.
      await Promise.resolve();
      const ended = await run(stop.signal);
      stop.abort();
      // No await between the end of a turn and the look for the next: a message that came before is
      // seen here, one that comes later starts its turn itself.
      active = undefined;
      // What could not write its end is left to the alarm, lest it spin.
      if (ended && around.state() !== "gone") kick();
    };
    const done = work();
    active = { stop, done };
    ctx.waitUntil(done);
  };

  /** True when the turn's end, or its pause, is on disk. Never throws. */
  const runToEnd = async (turn: Turn, signal: AbortSignal): Promise<boolean> => {
    try {
      let outcome: LoopOutcome | undefined;
      try {
        commit(() => startTurn(sql, turn, session.now()));
        outcome = await runTurn(session, turn, signal);
      } catch (error) {
        if (around.state() === "gone") return false;
        log("session.turn_failed", { error: errorName(error), turn: turn.n });
      }
      const rules = {
        everyTurns: session.settings.EXTRACTION_EVERY_TURNS,
        overBudget: (await within(USAGE_REPORT_MS, background.overBudget())) ?? false,
      };
      // So that whoever asks at the turn's end is told its tokens; they are not waited for long.
      await within(USAGE_REPORT_MS, background.report());
      commit(() => finishTurn(sql, turn.n, outcome, rules, session.now()));
      return true;
    } catch (error) {
      if (around.state() === "gone") return false;
      log("session.end_not_written", { error: errorName(error), turn: turn.n });
      return false;
    }
  };

  /** True when the request is settled. Never throws. */
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

  function kick(): void {
    if (around.state() !== "alive") return;
    const turn = active ? undefined : currentTurn(sql);
    const due = turn && (turn.interrupted || (turn.resumeAt ?? 0) <= session.now());
    if (turn && due) begin((signal) => runToEnd(turn, signal), turn.interrupted);
    else if (!active && compactionDue(sql)) begin(compactNow, false);
    background.tell();
    arm();
  }

  /** The platform has one alarm, so it is the minimum of what is due. */
  function arm(): void {
    if (around.state() === "gone") return;
    const now = session.now();
    const at = nextAlarm(
      {
        working: active !== undefined || around.state() === "deleting",
        turn: currentTurn(sql),
        tellAt: background.tellAt(),
        unreported: unreportedUsage(sql).length > 0,
      },
      now,
    );
    // Without anything due an alarm that still stands fires once and finds nothing.
    if (at === undefined) return;
    if (alarmAt !== undefined && alarmAt > now && alarmAt <= at) return;
    alarmAt = at;
    ctx.waitUntil(ctx.storage.setAlarm(at));
  }

  return {
    kick,
    arm,
    alarmed() {
      alarmAt = undefined;
      this.invoked();
      ctx.waitUntil(background.report());
      kick();
      arm();
    },
    invoked() {
      // What runs goes on in the invocation in which it began.
      if (!active) subrequests.used = 0;
    },
    interrupt: () => active?.stop.abort(),
    done: () => active?.done,
    extract: () => background.run(false),
    dropExtraction: (upTo) => dropBatch(session, upTo),
    settle: (drainMs, stop) =>
      stop ? stopWork(active, behind, drainMs) : workOff(active, behind, drainMs),
  };
}
