import { drive } from "../../../src/platform/threads/drive.ts";
import { loopPorts } from "../../../src/platform/threads/loop-ports.ts";
import { readTurn } from "../../../src/platform/threads/record-step.ts";
import type { ForkPrefix } from "../../../src/shared/fork/run-fork.ts";
import { runFork } from "../../../src/shared/fork/run-fork.ts";
import { FORK_MODEL_ATTEMPTS } from "../../../src/shared/limits/extraction.ts";
import type { Purpose } from "../../../src/shared/loop/model.ts";
import type { LoopOutcome, StepHook } from "../../../src/shared/loop/steps.ts";
import type { Tool } from "../../../src/shared/loop/tool.ts";
import type { Run } from "../rows/runs.ts";
import { runLogHook } from "../rows/runs.ts";
import { FORK_TURN } from "../rows/session-threads.ts";
import { usageHook } from "../rows/usage.ts";
import type { SessionContext } from "./session-context.ts";

/** A background fork: its run, whose thread has its task, and what it works with. */
export interface Fork {
  purpose: Purpose;
  sessionId: string;
  run: Run;
  prefix: ForkPrefix;
  /** The parent's tools by the same names, with the fork's rights. */
  tools: ReadonlyMap<string, Tool>;
  /** Model calls that it has. */
  iterations: number;
}

/**
 * Runs a fork from where the rows of its thread say it is. Each step is on disk, with its log and its
 * tokens, before the next; so whoever gives it the same run again goes on with it. `cut` is asked before
 * each record whether the run is cut off: then the answer is undefined.
 */
export function driveFork(
  session: SessionContext,
  { purpose, sessionId, run, prefix, tools, iterations }: Fork,
  signal: AbortSignal,
  cut: () => boolean,
  hooks: readonly StepHook[] = [],
): Promise<LoopOutcome | undefined> {
  const most = { iterations, attempts: FORK_MODEL_ATTEMPTS };
  const ports = { ...loopPorts(session.settings, prefix.model, most), tools };
  const state = readTurn(run.thread, FORK_TURN);
  const loop = runFork(prefix, { purpose, sessionId }, state, ports, signal);
  const own = [runLogHook(session.sql, run), usageHook(session, purpose, prefix.model)];
  return drive(loop, session, run.thread, FORK_TURN, [...hooks, ...own], cut);
}
