// One extraction of a session: takes the memory's lease, runs the fork over the oldest turns that are
// due, and moves the cursor. Each step of the fork is on disk before the next; a run that died goes on
// from there under a new lease, and what an older one still tries to write is refused.

import * as z from "zod";
import { errorName, log } from "../../../src/platform/log.ts";
import type { MemdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { memdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import type { ExtractReply } from "../../../src/platform/objects/session-rpc.ts";
import { userOwner } from "../../../src/platform/objects/store-owner.ts";
import { readSeen } from "../../../src/platform/threads/calls.ts";
import { countMessages } from "../../../src/platform/threads/entries.ts";
import type { AgentSettings } from "../../../src/platform/variables.ts";
import type { ErrorCode } from "../../../src/shared/errors.ts";
import { MemdirError } from "../../../src/shared/errors.ts";
import type { Batch } from "../../../src/shared/extraction/batch.ts";
import { extractionPrompt } from "../../../src/shared/extraction/prompt.ts";
import { recalledIn } from "../../../src/shared/extraction/repeats.ts";
import { extractionTools } from "../../../src/shared/extraction/sandbox.ts";
import { forkSucceeded, newFork, runFork } from "../../../src/shared/fork/forked-agent.ts";
import {
  EXTRACTION_ITERATIONS,
  EXTRACTION_MS,
  FORK_MODEL_ATTEMPTS,
  RESEND_FIRST_MS,
} from "../../../src/shared/limits/extraction.ts";
import { SCAN_FILES } from "../../../src/shared/limits/memory.ts";
import type { FailureKind } from "../../../src/shared/loop/model.ts";
import type { LoopStep } from "../../../src/shared/loop/steps.ts";
import { rememberNotes } from "../../../src/shared/tools/seen.ts";
import type { AgentEnv } from "../../env.ts";
import { changeExtraction, readExtraction } from "../rows/extraction-state.ts";
import type { Meta, SessionMemory } from "../rows/meta.ts";
import { readMeta } from "../rows/meta.ts";
import type { Run } from "../rows/runs.ts";
import { beginRun, isUnfinished, recordRunStep, unfinishedRun } from "../rows/runs.ts";
import { keepResult } from "../rows/stored-results.ts";
import { addStepUsage } from "../rows/usage.ts";
import { forkPrefix } from "../setup/fork-prefix.ts";
import type { TurnMemory } from "../setup/memory.ts";
import { healIndex, turnMemory } from "../setup/memory.ts";
import { limitsOf, loopSurroundings } from "../setup/model-ports.ts";
import { sessionMounts } from "../setup/session-mounts.ts";
import { clientTools } from "../setup/session-tools.ts";
import type { Ended, EndPorts, ForkEnd } from "./extraction-ends.ts";
import { batchDue, countFailure, failedRun, finish, giveUp } from "./extraction-ends.ts";
import { giveLease, type Lease, requireStore, takeLease } from "./extraction-lease.ts";

/** A batch may take this part of a small window. */
const BATCH_SHARE = 1 / 3;

export interface ExtractPorts extends EndPorts {
  env: Pick<AgentEnv, "FILES" | "MEMDIR">;
  settings: AgentSettings;
}

/**
 * Looks at the oldest batch that is due. `final`: no turn will follow. Never throws for what a model or
 * a storage may do; aborting `signal` leaves the run to be gone on with.
 */
export async function extract(
  ports: ExtractPorts,
  final: boolean,
  signal: AbortSignal,
): Promise<ExtractReply> {
  const { sql, env } = ports;
  const meta = readMeta(sql);
  const { memory } = meta;
  if (!memory.enabled) return { status: "none" };
  const stub = memdirStub(env, userOwner(meta), memory.storeId);
  // It has to be shown word for word, with room for what stands before and behind it.
  const { room } = limitsOf(ports.settings, meta.model);
  const batch = batchDue(sql, final, Math.floor(room * BATCH_SHARE));
  if (!batch) return nothingDue(ports, stub);
  let lease: Lease | undefined;
  let ended: Ended;
  try {
    const token = await takeLease(ports, stub, meta);
    if (token === undefined) return { status: "waiting" };
    lease = { stub, token };
    ended = await underLease(ports, meta, memory, lease, batch, signal);
  } catch (error) {
    ended = thrown(ports, batch, error);
  }
  const next = lease ? await giveLease(ports, lease) : null;
  return ended.status === "done" ? { status: "done", next } : again(ports, ended.afterMs, next);
}

/** A crash may have come between the end of a run and the return of its lease. */
async function nothingDue(ports: ExtractPorts, stub: MemdirStub): Promise<ExtractReply> {
  const { lease } = readExtraction(ports.sql);
  if (lease === null) {
    ports.commit(() => changeExtraction(ports.sql, { resendAt: null }));
    return { status: "none" };
  }
  return { status: "done", next: await giveLease(ports, { stub, token: lease }) };
}

/** What passes by itself is waited for; a defect is counted, lest it hold up all that comes later. */
function thrown(ports: ExtractPorts, batch: Batch, error: unknown): Ended {
  const code = codeOf(error);
  log("extraction.failed", { error: errorName(error), ...(code === undefined ? {} : { code }) });
  if (code === "not_found") {
    // The store was deleted or archived: there is nowhere to save to.
    giveUp(ports, batch, "disabled");
    return { status: "done" };
  }
  if (code === undefined || code === "unavailable") {
    return { status: "retry", afterMs: RESEND_FIRST_MS };
  }
  return countFailure(ports, batch);
}

/** Undefined for what the platform throws where an object or its storage goes away. */
function codeOf(error: unknown): ErrorCode | undefined {
  if (error instanceof MemdirError) return error.code;
  return error instanceof SyntaxError || error instanceof z.ZodError ? "internal" : undefined;
}

/** When it is tried again is on disk: no message has to come back for it. */
function again(ports: ExtractPorts, afterMs: number, next: string | null): ExtractReply {
  // Somebody may have settled the batch while it was looked at.
  const { requested, cursor } = readExtraction(ports.sql);
  if (requested <= cursor) return { status: "done", next };
  ports.commit(() => changeExtraction(ports.sql, { resendAt: ports.now() + afterMs }));
  return { status: "retry", afterMs, next };
}

/**
 * The queue gave up on what it was told of: the turns up to `upTo`, or all that is due. What was
 * settled meanwhile, and what came later, is left alone.
 */
export function dropBatch(ports: EndPorts, upTo = Number.MAX_SAFE_INTEGER): void {
  const batch = batchDue(ports.sql, false);
  if (!batch || upTo < batch.first) return;
  giveUp(ports, { first: batch.first, last: Math.min(batch.last, upTo) }, "failed");
}

async function underLease(
  ports: ExtractPorts,
  meta: Meta,
  place: Extract<SessionMemory, { enabled: true }>,
  lease: Lease,
  due: Batch,
  signal: AbortSignal,
): Promise<Ended> {
  const { sql } = ports;
  const memory = turnMemory(ports.env, meta, meta.id, place, {
    by: "extraction",
    token: lease.token,
  });
  if (!memory) return { status: "done" };
  await requireStore(lease.stub);
  const run = unfinishedRun(sql, "extraction") ?? (await newRun(ports, lease, memory, due));
  const end = endOf(run) ?? (await runSteps(ports, meta, memory, run, lease, signal));
  if (!end || end.outcome.reason === "interrupted") {
    return { status: "retry", afterMs: RESEND_FIRST_MS };
  }
  if (!forkSucceeded(end.outcome)) return failedRun(ports, run, end);
  const saved = unfinishedRun(sql, "extraction")?.log.saved.length ?? 0;
  // A store that went away meanwhile took no memory: that is not "nothing new".
  if (saved === 0) await requireStore(lease.stub);
  const healed = saved > 0 ? await healIndex(memory) : [];
  finish(ports, memory.storeId, run, healed, end.outcome);
  return { status: "done" };
}

/** How a run ended whose last answer is on disk: the model is not asked again. */
function endOf({ outcome }: Run): ForkEnd | undefined {
  switch (outcome) {
    case "end_turn":
    case "refusal":
    case "stopped":
      return { outcome: { reason: outcome } };
    default:
      return undefined;
  }
}

async function newRun(
  ports: ExtractPorts,
  { stub }: Lease,
  { directory }: TurnMemory,
  due: Batch,
): Promise<Run> {
  const known = unwrap(await stub.scan(SCAN_FILES));
  const task = extractionPrompt({
    directory,
    messages: countMessages(ports.sql, due),
    known,
    iterations: EXTRACTION_ITERATIONS,
  });
  let run: Run | undefined;
  ports.commit(() => {
    run = beginRun(ports.sql, "extraction", due, newFork(task), ports.now());
  });
  if (!run) throw new MemdirError("internal", "The run was not recorded");
  return run;
}

/** Undefined where it was cut off: its signal, a lease that passed on, or somebody who ended the run. */
async function runSteps(
  ports: ExtractPorts,
  meta: Meta,
  memory: TurnMemory,
  run: Run,
  lease: Lease,
  cut: AbortSignal,
): Promise<ForkEnd | undefined> {
  const { sql, settings } = ports;
  const stop = new AbortController();
  const signal = AbortSignal.any([cut, stop.signal]);
  const deadline = ports.now() + EXTRACTION_MS;
  const prefix = await forkPrefix(ports, meta, memory, {
    upToTurn: run.lastTurn,
    fromTurn: run.firstTurn,
  });
  const mounts = sessionMounts(ports, meta, memory);
  const seen = readSeen(sql);
  const tools = extractionTools({
    mounts: mounts.list,
    directory: memory.directory,
    files: memory.files,
    seen,
    known: async () => ({
      memories: unwrap(await lease.stub.scan(SCAN_FILES)),
      recalled: recalledIn(prefix.messages),
    }),
  });
  for (const tool of clientTools(meta)) tools.set(tool.name, tool);
  const fork = runFork(
    prefix,
    { purpose: "extraction", sessionId: meta.id },
    run,
    {
      ...loopSurroundings(settings, meta.model, {
        iterations: EXTRACTION_ITERATIONS,
        attempts: FORK_MODEL_ATTEMPTS,
      }),
      tools,
    },
    signal,
  );
  // By the clock and not by steps: a model may write one long call for minutes.
  const heart = setInterval(() => {
    lease.stub.renew("extraction", lease.token, settings.LEASE_MS).then(
      (renewed) => {
        if (renewed.ok && renewed.value.status !== "granted") stop.abort();
      },
      // One that cannot be told now is told the next time; a lease that has passed on refuses writes.
      () => {},
    );
  }, settings.LEASE_MS / 3);
  let failure: FailureKind | undefined;
  let late = false;
  try {
    let step = await fork.next();
    while (!step.done) {
      late = ports.now() > deadline;
      if (late || !isUnfinished(sql, run.n)) stop.abort();
      // What an aborted fork still says is not recorded, only counted: it goes on from its last step.
      if (signal.aborted) {
        if (step.value.type === "preview") {
          step = await fork.next();
          continue;
        }
        countUsage(ports, meta, step.value);
        break;
      }
      if (step.value.type === "request_failed") failure = step.value.failure.kind;
      await recordStep(ports, meta, memory, run, step.value);
      if (step.value.type === "call_finished") rememberNotes(seen, step.value.result.notes);
      step = await fork.next();
    }
    if (step.done) return { outcome: step.value, failure };
    await fork.return({ reason: "interrupted" });
    return late ? { outcome: { reason: "failed" } } : undefined;
  } finally {
    clearInterval(heart);
  }
}

async function recordStep(
  ports: ExtractPorts,
  meta: Meta,
  memory: TurnMemory,
  run: Run,
  step: LoopStep,
): Promise<void> {
  if (step.type === "preview" || step.type === "request_started") return;
  const notes = step.type === "call_finished" ? step.result.notes : [];
  const receipts = await memory.receiptsOf(notes);
  ports.commit(() => {
    recordRunStep(ports.sql, run.n, step, receipts);
    if (step.type === "call_finished" && step.whole) {
      keepResult(ports.sql, step.whole.path, step.whole.content, ports.now());
    }
    addStepUsage(ports.sql, "extraction", meta.model, step, ports.now());
  });
}

function countUsage(ports: ExtractPorts, meta: Meta, step: LoopStep): void {
  try {
    const { sql } = ports;
    ports.commit(() => addStepUsage(sql, "extraction", meta.model, step, ports.now()));
  } catch (error) {
    log("extraction.usage_lost", { error: errorName(error) });
  }
}
