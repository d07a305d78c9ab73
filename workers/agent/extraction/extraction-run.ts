// The extraction fork, in a thread of its own: the conversation's prefix, its own rights, the lease kept
// alive while it runs.

import { errorName, log } from "../../../src/platform/log.ts";
import { lastEntry } from "../../../src/platform/threads/entries.ts";
import { changeProgress } from "../../../src/platform/threads/progress.ts";
import { progressHook } from "../../../src/platform/threads/progress-hook.ts";
import { knownFiles } from "../../../src/platform/threads/read-files.ts";
import { MemdirError } from "../../../src/shared/errors.ts";
import { recalledIn } from "../../../src/shared/extraction/check-repeats.ts";
import { extractionTools } from "../../../src/shared/extraction/sandbox.ts";
import type { FileStore } from "../../../src/shared/files/store.ts";
import { EXTRACTION_ITERATIONS, EXTRACTION_MS } from "../../../src/shared/limits/extraction.ts";
import { STEP_DEATHS } from "../../../src/shared/limits/turn.ts";
import type { FailureKind } from "../../../src/shared/loop/model.ts";
import type { StepHook } from "../../../src/shared/loop/steps.ts";
import type { Tool } from "../../../src/shared/loop/tool.ts";
import { erasures } from "../rows/erasures.ts";
import type { Run } from "../rows/runs.ts";
import { forgetDeaths, isUnfinished, unfinishedRun } from "../rows/runs.ts";
import { FORK_TURN } from "../rows/session-threads.ts";
import { sessionMounts } from "../setup/conversation.ts";
import { driveFork } from "../setup/drive-fork.ts";
import type { SharedPrefix } from "../setup/fork-prefix.ts";
import { switchedOff } from "../setup/memory.ts";
import type { SessionContext } from "../setup/session-context.ts";
import { clientTools } from "../setup/session-tools.ts";
import type { ForkEnd } from "./extraction-ends.ts";
import { settle } from "./extraction-ends.ts";
import type { Lease } from "./extraction-lease.ts";
import { lastWord } from "./last-word.ts";
import type { Extracted, Opened } from "./open-run.ts";

/** Undefined where it was cut off: its signal, a lease that passed on, or somebody who ended the run. */
export async function driveRun(
  session: SessionContext,
  of: Extracted,
  { run, prefix, deaths }: Opened,
  lease: Lease,
  signal: AbortSignal,
): Promise<ForkEnd | undefined> {
  const { sql, settings } = session;
  // A run that dies at one step again and again would take the session with it for ever.
  if (deaths >= STEP_DEATHS) return { outcome: { reason: "stopped" }, died: true };
  const stop = new AbortController();
  const cut = AbortSignal.any([signal, stop.signal]);
  const deadline = session.now() + EXTRACTION_MS;
  const isLate = () => session.now() > deadline;
  const word = lastWord(sql, run, of.memory.files);
  let off = false;
  const switched = (rule: string) => {
    off = true;
    stop.abort();
    return new MemdirError("forbidden", `Nothing is saved any more: ${rule}`);
  };
  const fork = {
    purpose: "extraction",
    sessionId: of.meta.id,
    run,
    prefix,
    tools: forkTools(session, of, run, prefix, word.files, switched),
    iterations: EXTRACTION_ITERATIONS,
  } as const;
  let failure: FailureKind | undefined;
  const watch: StepHook = {
    record(step) {
      if (step.type === "request_failed") failure = step.failure.kind;
    },
  };
  const erasedBefore = erasures(sql);
  const isCut = () => {
    // What was erased meanwhile stands in what this run was shown: it goes on with another prefix.
    const stale = erasures(sql) !== erasedBefore;
    if (isLate() || stale || !isUnfinished(sql, run)) stop.abort();
    return cut.aborted;
  };
  const progress = progressHook(() => forgetDeaths(sql, run));
  const heart = keepAlive(lease, settings.LEASE_MS, stop);
  const timer = setTimeout(() => stop.abort(), EXTRACTION_MS);
  try {
    const hooks = [watch, progress, word.hook, settleHook(session, run)];
    const outcome = await driveFork(session, fork, cut, isCut, hooks);
    if (off) return { outcome: { reason: "stopped" }, off };
    if (outcome) return { outcome, failure };
    return isLate() ? { outcome: { reason: "failed" } } : undefined;
  } finally {
    clearInterval(heart);
    clearTimeout(timer);
    leave(session, run);
  }
}

/** A run that finds nothing to save with its first answer is over with it, in the same transaction. */
function settleHook({ sql }: SessionContext, run: Run): StepHook {
  return {
    settles(step, now) {
      if (step.type !== "answered" || step.outcome?.reason !== "end_turn") return false;
      const begun = unfinishedRun(sql, "extraction");
      if (begun?.n !== run.n || lastEntry(run.thread) > 0) return false;
      changeProgress(run.thread, FORK_TURN, { iteration: 1 });
      settle(sql, run, [], step.outcome, now);
      return true;
    },
  };
}

/** However it ended, it did not die. An object that is gone has no rows to write that to. */
function leave({ sql, commit }: SessionContext, run: Run): void {
  try {
    commit(() => forgetDeaths(sql, run));
  } catch (error) {
    log("extraction.end_not_written", { error: errorName(error) });
  }
}

/**
 * The parent's tools by the same names, with the fork's rights. Before each write it is asked whether the
 * memory is still on; `switched` makes the error of one that is not.
 */
function forkTools(
  session: SessionContext,
  { meta, memory }: Extracted,
  run: Run,
  prefix: SharedPrefix,
  files: FileStore,
  switched: (rule: string) => MemdirError,
): Map<string, Tool> {
  const put: FileStore["put"] = async (...args) => {
    const rule = await switchedOff(session.env, meta, session.settings);
    if (rule !== undefined) throw switched(rule);
    return files.put(...args);
  };
  const tools = extractionTools({
    mounts: sessionMounts(session, meta, memory).list,
    directory: memory.directory,
    files: { ...files, put },
    seen: knownFiles(run.thread),
    recalled: () => recalledIn(prefix.entries),
  });
  for (const tool of clientTools(meta)) tools.set(tool.name, tool);
  return tools;
}

/**
 * Renews the lease by the clock and not by steps: a model may write one long call for minutes. One that
 * has passed on stops the fork.
 */
function keepAlive(
  { stub, token }: Lease,
  ms: number,
  stop: AbortController,
): ReturnType<typeof setInterval> {
  return setInterval(() => {
    stub.renew("extraction", token, ms).then(
      (renewed) => {
        if (renewed.ok && renewed.value.status !== "granted") stop.abort();
      },
      // A renewal that fails is tried again; a lease that has passed on refuses writes.
      () => {},
    );
  }, ms / 3);
}
