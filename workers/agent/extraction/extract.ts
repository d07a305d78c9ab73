// One extraction of a session: takes the memory's lease, runs the fork over the oldest turns that are
// due, and moves the cursor. A run that died goes on under a new lease, and what an older one still
// tries to write is refused.

import * as z from "zod";
import { errorName, log } from "../../../src/platform/log.ts";
import type { MemdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { memdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import type { ExtractReply } from "../../../src/platform/objects/session-rpc.ts";
import { userOwner } from "../../../src/platform/objects/store-owner.ts";
import { keepNoted } from "../../../src/platform/state.ts";
import { limitsOf } from "../../../src/platform/threads/loop-ports.ts";
import { readProgress } from "../../../src/platform/threads/progress.ts";
import type { ErrorCode } from "../../../src/shared/errors.ts";
import { MemdirError } from "../../../src/shared/errors.ts";
import type { Batch } from "../../../src/shared/extraction/batch.ts";
import { forkSucceeded } from "../../../src/shared/fork/run-fork.ts";
import { RESEND_FIRST_MS } from "../../../src/shared/limits/extraction.ts";
import { changeExtraction, readExtraction } from "../rows/extraction-state.ts";
import { readMeta } from "../rows/meta.ts";
import type { Run } from "../rows/runs.ts";
import { isUnfinished, unfinishedRun } from "../rows/runs.ts";
import { FORK_TURN } from "../rows/session-threads.ts";
import { saidAt, turnByNumber } from "../rows/turns.ts";
import { openConversation } from "../setup/conversation.ts";
import { healIndex, switchedOff, turnMemory } from "../setup/memory.ts";
import type { SessionContext } from "../setup/session-context.ts";
import type { Ended, ForkEnd } from "./extraction-ends.ts";
import { batchDue, countFailure, failedRun, giveUp, settle } from "./extraction-ends.ts";
import { giveLease, type Lease, requireStore, takeLease } from "./extraction-lease.ts";
import { driveRun } from "./extraction-run.ts";
import { openRun, runToGoOn } from "./open-run.ts";

/** A batch may take this part of a small window. */
const BATCH_SHARE = 1 / 3;

/**
 * Looks at the oldest batch that is due. `final`: no turn will follow. Never throws for what a model or
 * a storage may do; aborting `signal` leaves the run to be gone on with.
 */
export async function extract(
  session: SessionContext,
  final: boolean,
  signal: AbortSignal,
): Promise<ExtractReply> {
  const { sql, env } = session;
  const meta = readMeta(sql);
  const { memory } = meta;
  if (!memory.enabled) return { status: "none" };
  const stub = memdirStub(env, userOwner(meta), memory.storeId);
  // It has to be shown word for word, with room for what stands before and after it.
  const { room } = limitsOf(session.settings, meta.model);
  const batch = batchDue(sql, final, Math.floor(room * BATCH_SHARE));
  if (!batch) return nothingDue(session, stub);
  let lease: Lease | undefined;
  let ended: Ended;
  try {
    // What was due when the memory was on is not saved after somebody turned it off.
    if ((await switchedOff(env, meta, session.settings)) === undefined) {
      lease = await takeLease(session, stub, meta);
      if (!lease) return { status: "waiting" };
      ended = await underLease(session, lease, batch, signal);
    } else {
      giveUp(session, batch, "disabled");
      ended = { status: "done" };
    }
  } catch (error) {
    ended = thrown(session, batch, error);
  }
  const next = lease ? await giveLease(session, lease) : null;
  return ended.status === "done" ? { status: "done", next } : again(session, ended.afterMs, next);
}

/** A crash may have come between the end of a run and the return of its lease. */
async function nothingDue(session: SessionContext, stub: MemdirStub): Promise<ExtractReply> {
  const { lease } = readExtraction(session.sql);
  if (lease === null) {
    session.commit(() => changeExtraction(session.sql, { resendAt: null }));
    return { status: "none" };
  }
  const next = await giveLease(session, { stub, token: lease });
  // No turn is at hand that would take it to disk.
  session.commit(() => keepNoted(session.sql));
  return { status: "done", next };
}

/** What passes by itself is waited for; a defect is counted, lest it hold up all that comes later. */
function thrown(session: SessionContext, batch: Batch, error: unknown): Ended {
  const code = codeOf(error);
  log("extraction.failed", { error: errorName(error), code });
  if (code === "not_found") {
    // The store was deleted or archived: there is nowhere to save to.
    giveUp(session, batch, "disabled", { gone: true });
    return { status: "done" };
  }
  if (code === undefined || code === "unavailable") {
    return { status: "retry", afterMs: RESEND_FIRST_MS };
  }
  return countFailure(session, batch);
}

/** Undefined for what the platform throws where an object or its storage goes away. */
function codeOf(error: unknown): ErrorCode | undefined {
  if (error instanceof MemdirError) return error.code;
  return error instanceof SyntaxError || error instanceof z.ZodError ? "internal" : undefined;
}

/** When it is tried again is on disk: no message has to come back for it. */
function again(session: SessionContext, afterMs: number, next: string | null): ExtractReply {
  // The batch may be done with: the queue may have given up on it meanwhile.
  const { requested, cursor } = readExtraction(session.sql);
  if (requested <= cursor) return { status: "done", next };
  session.commit(() => changeExtraction(session.sql, { resendAt: session.now() + afterMs }));
  return { status: "retry", afterMs, next };
}

/**
 * The queue gave up on a message: on the turns up to `upTo`, or on all that is due. What was done
 * meanwhile, and what came later, is left alone.
 */
export function dropBatch(session: SessionContext, upTo = Number.MAX_SAFE_INTEGER): void {
  const batch = batchDue(session.sql, false);
  if (!batch || upTo < batch.first) return;
  giveUp(session, { first: batch.first, last: Math.min(batch.last, upTo) }, "failed");
}

async function underLease(
  session: SessionContext,
  lease: Lease,
  due: Batch,
  signal: AbortSignal,
): Promise<Ended> {
  const { sql, env } = session;
  const own = await openConversation(session);
  const since = runToGoOn(sql)?.start?.since ?? lease.at;
  const gone = goneFrom(sql, unfinishedRun(sql, "extraction")?.firstTurn ?? due.first);
  const as = { by: "extraction", token: lease.token, since, gone } as const;
  const memory = turnMemory(env, own.meta, own.meta.id, own.meta.memory, as);
  if (!memory) return { status: "done" };
  await requireStore(lease.stub);
  const of = { ...own, memory };
  const opened = await openRun(session, of, lease, due);
  const { run } = opened;
  const end = endOf(run) ?? (await driveRun(session, of, opened, lease, signal));
  if (!end || end.outcome.reason === "interrupted") {
    return { status: "retry", afterMs: RESEND_FIRST_MS };
  }
  if (end.off) {
    giveUp(session, { first: run.firstTurn, last: run.lastTurn }, "disabled");
    return { status: "done" };
  }
  if (end.died) {
    giveUp(session, { first: run.firstTurn, last: run.lastTurn }, "failed");
    return { status: "done" };
  }
  if (!forkSucceeded(end.outcome)) return failedRun(session, run, end);
  if (!isUnfinished(sql, run)) return { status: "done" };
  const saved = unfinishedRun(sql, "extraction")?.log.saved.length ?? 0;
  // A store that went away meanwhile took no memory: that is not "nothing new".
  if (saved === 0) await requireStore(lease.stub);
  const healed = saved > 0 ? await healIndex(memory) : [];
  const { outcome } = end;
  session.commit(() => settle(sql, run, healed, outcome, session.now()));
  return { status: "done" };
}

/** From when on a deletion comes after a turn: after its message, and of its own session after its start. */
function goneFrom(sql: SqlStorage, turn: number): { from: number; ownFrom: number } {
  const from = saidAt(sql, turn);
  return { from, ownFrom: turnByNumber(sql, turn).startedAt ?? from };
}

/** How a run ended whose last answer is on disk: the model is not asked again. */
function endOf({ thread }: Run): ForkEnd | undefined {
  const { outcome } = readProgress(thread, FORK_TURN);
  switch (outcome?.reason) {
    case "end_turn":
    case "refusal":
    case "stopped":
      return { outcome };
    default:
      return undefined;
  }
}
