// One extraction of a session: takes the memory's lease, runs the fork over the oldest turns that are
// due, and moves the cursor. Each step of the fork is on disk before the next; a run that died goes on
// from there under a new lease, and what an older one still tries to write is refused.

import { errorName, log } from "../../src/platform/log.ts";
import type { MemdirStub, Receipt } from "../../src/platform/memdir-rpc.ts";
import { memdirStub } from "../../src/platform/memdir-rpc.ts";
import { agentMounts } from "../../src/platform/mount-table.ts";
import { unwrap } from "../../src/platform/reply.ts";
import type { AgentSettings } from "../../src/platform/variables.ts";
import { MemdirError } from "../../src/shared/errors.ts";
import type { Batch } from "../../src/shared/extraction/batch.ts";
import { extractionPrompt } from "../../src/shared/extraction/prompt.ts";
import { extractionTools } from "../../src/shared/extraction/sandbox.ts";
import type { ForkPrefix } from "../../src/shared/fork/forked-agent.ts";
import { forkSucceeded, newFork, runFork } from "../../src/shared/fork/forked-agent.ts";
import * as limits from "../../src/shared/limits.ts";
import type { LoopOutcome, LoopStep } from "../../src/shared/query/steps.ts";
import { createFileTools } from "../../src/shared/tools/file-tools.ts";
import type { AgentEnv } from "../env.ts";
import { readSeen } from "./calls.ts";
import { appendEvent } from "./events.ts";
import { changeExtraction, dueBatch, readExtraction, settleUpTo } from "./extraction-state.ts";
import type { SessionMemory, TurnMemory } from "./memory.ts";
import { turnMemory } from "./memory.ts";
import type { Meta } from "./meta.ts";
import { readMeta } from "./meta.ts";
import { loopSurroundings } from "./model-ports.ts";
import { savedEvent } from "./record-step.ts";
import type { Run } from "./runs.ts";
import { addSaved, beginRun, endRun, recordRunStep, resetAttempts, unfinishedRun } from "./runs.ts";
import { promptOf } from "./system-prompt.ts";
import { countMessages, readTranscript } from "./transcript.ts";
import { turnByNumber } from "./turns.ts";
import { addUsage } from "./usage.ts";

export interface ExtractPorts {
  sql: SqlStorage;
  env: Pick<AgentEnv, "FILES" | "MEMDIR">;
  settings: AgentSettings;
  /** Runs a function as one transaction and tells the subscribers afterwards. */
  commit(write: () => void): void;
  now(): number;
}

/** `next` is another session that waits for the same memory: to tell it is the caller's duty. */
export type ExtractReply =
  | { status: "none" }
  /** The memory is somebody else's just now; they know that this session waits. */
  | { status: "waiting" }
  | { status: "done"; next: string | null }
  | { status: "retry"; afterMs: number; next: string | null };

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
  const batch = memory.enabled ? dueBatch(sql, final) : undefined;
  if (!memory.enabled || !batch) {
    ports.commit(() => changeExtraction(sql, { resendAt: null }));
    return { status: "none" };
  }
  const stub = memdirStub(env, meta, memory.storeId);
  try {
    const token = await takeLease(ports, stub, meta);
    if (token === undefined) return { status: "waiting" };
    const ended = await underLease(ports, meta, memory, { stub, token }, batch, signal);
    const next = await giveLease(ports, stub, token);
    return ended.status === "done" ? { status: "done", next } : again(ports, ended.afterMs, next);
  } catch (error) {
    if (error instanceof MemdirError && error.code === "not_found") {
      // The store was deleted: there is nowhere to save to.
      ports.commit(() => skip(ports, batch, "disabled"));
      return { status: "done", next: null };
    }
    log("extraction.failed", { error: errorName(error) });
    return again(ports, limits.RESEND_FIRST_MS, null);
  }
}

/** When it is tried again is on disk: no message has to come back for it. */
function again(ports: ExtractPorts, afterMs: number, next: string | null): ExtractReply {
  ports.commit(() => changeExtraction(ports.sql, { resendAt: ports.now() + afterMs }));
  return { status: "retry", afterMs, next };
}

/** The batch that is due is given up: the cursor passes it, and people are told. */
export function dropBatch(ports: Pick<ExtractPorts, "sql" | "commit" | "now">): void {
  const { sql } = ports;
  const batch = dueBatch(sql, false);
  if (!batch) return;
  log("extraction.dropped", { turns: batch.last - batch.first + 1 });
  ports.commit(() => {
    const run = unfinishedRun(sql, "extraction");
    if (run) endRun(sql, run.n, "failed", ports.now());
    skip(ports, batch, "failed");
  });
}

interface Lease {
  stub: MemdirStub;
  token: number;
}

async function takeLease(
  ports: ExtractPorts,
  stub: MemdirStub,
  meta: Meta,
): Promise<number | undefined> {
  const { lease } = readExtraction(ports.sql);
  // One that a crash left behind is ours to give back; its writes are refused from here on.
  if (lease !== null) unwrap(await stub.release("extraction", lease));
  const { LEASE_MS } = ports.settings;
  const reply = unwrap(await stub.acquire("extraction", crypto.randomUUID(), LEASE_MS, meta.id));
  const token = reply.status === "granted" ? reply.token : null;
  ports.commit(() => changeExtraction(ports.sql, { lease: token }));
  return token ?? undefined;
}

async function giveLease(
  ports: ExtractPorts,
  stub: MemdirStub,
  token: number,
): Promise<string | null> {
  try {
    const next = unwrap(await stub.release("extraction", token));
    ports.commit(() => changeExtraction(ports.sql, { lease: null }));
    return next;
  } catch (error) {
    log("extraction.lease_kept", { error: errorName(error) });
    return null;
  }
}

type Ended = { status: "done" } | { status: "retry"; afterMs: number };

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
  const run = unfinishedRun(sql, "extraction") ?? (await newRun(ports, lease, memory, due));
  const stop = new AbortController();
  const outcome = await runSteps(
    ports,
    meta,
    memory,
    run,
    lease,
    AbortSignal.any([signal, stop.signal]),
    stop,
  );
  if (!outcome || outcome.reason === "interrupted") {
    return { status: "retry", afterMs: limits.RESEND_FIRST_MS };
  }
  if (!forkSucceeded(outcome)) return failedRun(ports, run, outcome);
  const healed = unfinishedRun(sql, "extraction")?.log.saved.length ? await heal(memory) : [];
  ports.commit(() => finish(ports, memory, run, healed, outcome));
  return { status: "done" };
}

async function newRun(
  ports: ExtractPorts,
  { stub }: Lease,
  { directory }: TurnMemory,
  due: Batch,
): Promise<Run> {
  const known = unwrap(await stub.scan(limits.SCAN_FILES));
  const task = extractionPrompt({
    directory,
    messages: countMessages(ports.sql, due),
    known,
    iterations: limits.EXTRACTION_ITERATIONS,
  });
  let run: Run | undefined;
  ports.commit(() => {
    run = beginRun(ports.sql, "extraction", due, newFork(task), ports.now());
  });
  if (!run) throw new MemdirError("internal", "The run was not recorded");
  return run;
}

/** Undefined where it was cut off: the lease passed on, or its time was up. */
async function runSteps(
  ports: ExtractPorts,
  meta: Meta,
  memory: TurnMemory,
  run: Run,
  lease: Lease,
  signal: AbortSignal,
  stop: AbortController,
): Promise<LoopOutcome | undefined> {
  const { sql, settings } = ports;
  const deadline = ports.now() + limits.EXTRACTION_MS;
  const prefix = await prefixOf(ports, meta, memory, run.lastTurn);
  const mounts = agentMounts(ports.env.FILES, meta, meta.environmentId, memory);
  const seen = readSeen(sql);
  const tools = extractionTools({
    mounts: mounts.list,
    directory: memory.directory,
    files: memory.files,
    seen,
  });
  const fork = runFork(
    prefix,
    { purpose: "extraction", sessionId: meta.id },
    run,
    {
      ...loopSurroundings(settings, {
        iterations: limits.EXTRACTION_ITERATIONS,
        attempts: limits.FORK_MODEL_ATTEMPTS,
      }),
      tools,
    },
    signal,
  );
  let renewedAt = ports.now();
  let step = await fork.next();
  while (!step.done) {
    if (ports.now() - renewedAt > settings.LEASE_MS / 3) {
      renewedAt = ports.now();
      const { stub, token } = lease;
      const renewed = unwrap(await stub.renew("extraction", token, settings.LEASE_MS));
      if (renewed.status !== "granted") stop.abort();
    }
    if (ports.now() > deadline) stop.abort();
    // What an aborted fork still says is not recorded: it goes on from its last whole step.
    if (signal.aborted) break;
    await recordStep(ports, meta, memory, run, step.value);
    step = await fork.next();
  }
  if (step.done) return step.value;
  await fork.return({ reason: "interrupted" });
  return undefined;
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
    if (step.type === "answered") {
      addUsage(ports.sql, "extraction", meta.model, step.usage, ports.now());
    }
  });
}

/** What the parent sent up to the end of a turn, byte for byte. */
async function prefixOf(
  ports: ExtractPorts,
  meta: Meta,
  memory: TurnMemory,
  lastTurn: number,
): Promise<ForkPrefix> {
  const mounts = agentMounts(ports.env.FILES, meta, meta.environmentId, memory);
  return {
    model: meta.model,
    maxTokens: limits.ANSWER_TOKENS,
    system: await promptOf(ports, meta, memory),
    tools: createFileTools({ mounts, seen: new Map() }),
    messages: readTranscript(ports.sql, lastTurn),
  };
}

/** The index can be healed by the next writer too: that never costs a run. */
async function heal(memory: TurnMemory): Promise<Receipt[]> {
  try {
    return await memory.reconcile();
  } catch (error) {
    log("extraction.index_not_healed", { error: errorName(error) });
    return [];
  }
}

/** The one step in which a run becomes part of the session: cursor, event and log, or none of them. */
function finish(
  ports: ExtractPorts,
  memory: TurnMemory,
  run: Run,
  healed: readonly Receipt[],
  outcome: LoopOutcome,
): void {
  const { sql } = ports;
  addSaved(sql, run.n, healed);
  const saved = unfinishedRun(sql, "extraction")?.log.saved ?? [];
  const now = ports.now();
  endRun(sql, run.n, saved.length > 0 ? outcome.reason : "nothing_new", now);
  const turn_id = turnByNumber(sql, run.lastTurn).eventId;
  const event =
    saved.length > 0
      ? savedEvent("extraction", memory.storeId, saved)
      : { type: "memory.skipped", by: "extraction", reason: "nothing_new" };
  appendEvent(sql, { ...event, turn_id }, now);
  settleUpTo(sql, run.lastTurn, now);
}

function skip(
  ports: Pick<ExtractPorts, "sql" | "now">,
  batch: Batch,
  reason: "failed" | "disabled",
): void {
  const turn_id = turnByNumber(ports.sql, batch.last).eventId;
  const event = { type: "memory.skipped", by: "extraction", reason, turn_id };
  appendEvent(ports.sql, event, ports.now());
  settleUpTo(ports.sql, batch.last, ports.now());
}

/** A run whose model failed goes on later; one that ended without success begins anew. */
function failedRun(ports: ExtractPorts, run: Run, outcome: LoopOutcome): Ended {
  const { sql } = ports;
  if (outcome.reason === "wait") {
    ports.commit(() => resetAttempts(sql, run.n));
    return { status: "retry", afterMs: outcome.ms };
  }
  let failures = 0;
  ports.commit(() => {
    failures = readExtraction(sql).failures + 1;
    changeExtraction(sql, { failures });
    if (outcome.reason === "failed") resetAttempts(sql, run.n);
    else endRun(sql, run.n, outcome.reason, ports.now());
  });
  if (failures >= limits.EXTRACTION_ATTEMPTS) {
    dropBatch(ports);
    return { status: "done" };
  }
  return { status: "retry", afterMs: limits.RETRY_FIRST_MS * 2 ** failures };
}
