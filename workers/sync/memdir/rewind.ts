// Back in time, memory by memory. The plan is on disk before its first effect, and each step says there
// what it made. A rewind that a crash cut off goes on before the next change: a step that was done
// already finds its memory as it is to be. The plan goes with the answer: whoever asks again after a
// crash learns of all that came of it, whichever call did it.

import type {
  Actor,
  Change,
  RewindReply,
  WriteReply,
} from "../../../src/platform/objects/memdir-rpc.ts";
import { MemdirError } from "../../../src/shared/errors.ts";
import type { Receipt } from "../../../src/shared/files/receipt.ts";
import type { Decision } from "./apply-conditionally.ts";
import { applyConditionally, finished } from "./apply-conditionally.ts";
import { readContent } from "./contents.ts";
import type { Directory } from "./directory.ts";
import { headById } from "./heads.ts";
import { importChanges } from "./import.ts";
import { comeBack, type State } from "./restore.ts";
import { LOST, planRewind, type RewindTo } from "./rewind-plan.ts";
import {
  begin,
  changedBySteps,
  forget,
  isUnanswered,
  type LeftStep,
  markDone,
  recordSteps,
  rewindUnderWay,
  stepsLeft,
} from "./rewind-steps.ts";
import { fullStorage } from "./write.ts";

/**
 * Goes back: the whole store to a time, or everything that one session wrote. What somebody else
 * changed after the session stays, and the reply says so. Throws `unavailable` where the file storage
 * fails: then nothing has happened yet, or the rest follows by itself. The same request again after
 * that, or after a crash, is answered with what all of it changed.
 */
export async function rewind(dir: Directory, to: RewindTo, change: Change): Promise<RewindReply> {
  const full = fullStorage(dir);
  if (full) throw new MemdirError("invalid_request", full.message);
  const { sql } = dir;
  const { actor } = change;
  await importChanges(dir);
  const { steps, skipped } = await planRewind(dir, to, change);
  const again = isUnanswered(sql, to, actor);
  if (steps.length === 0 && !again) return { changed: [], skipped };
  if (steps.length > 0) {
    dir.commit(() => {
      if (!again) begin(sql, to, actor);
      recordSteps(sql, steps);
    });
    // Whoever asked may be gone when a crash is over: the alarm wakes the object.
    dir.later();
  }
  const stayed = await finishRewind(dir);
  const changed = changedBySteps(sql);
  dir.commit(() => forget(sql));
  const own = new Set(changed.filter((receipt) => isStill(sql, receipt)).map((of) => of.memoryId));
  // To the plan of a second call the work of the first is somebody else's.
  const stays = skipped.filter(({ memoryId }) => !own.has(memoryId));
  return { changed, skipped: [...stays, ...stayed] };
}

/** Whether a memory is as this change left it. */
function isStill(sql: SqlStorage, { memoryId, operation, n }: Receipt): boolean {
  const head = headById(sql, memoryId);
  return operation === "deleted" ? head === undefined : head?.n === n;
}

/**
 * Goes on with a rewind that is on disk, if there is one; the answer is what had to stay. Throws
 * `unavailable` as `rewind` does.
 */
export async function finishRewind(dir: Directory): Promise<RewindReply["skipped"]> {
  const skipped: RewindReply["skipped"] = [];
  const under = rewindUnderWay(dir.sql);
  if (!under) return skipped;
  const end = (step: LeftStep, reason: string | undefined) => {
    const { path, memory_id: memoryId } = step;
    if (reason !== undefined) skipped.push({ path, memoryId, reason });
    markDone(dir, step, reason === undefined ? under : undefined);
  };
  for (const step of stepsLeft(dir.sql, "s.target IS NULL OR s.aside = 1")) {
    const reason = await makeRoom(dir, step, under.actor);
    if (step.target === null) end(step, reason);
  }
  for (const step of stepsLeft(dir.sql, "s.target IS NOT NULL")) {
    end(step, await goBack(dir, step, under.actor));
  }
  return skipped;
}

/**
 * Takes away what is to be gone, and what is to be elsewhere and stands in another one's way. The
 * answer is why a memory that is to be gone had to stay.
 */
async function makeRoom(
  dir: Directory,
  { memory_id: memoryId, target }: LeftStep,
  actor: Actor,
): Promise<string | undefined> {
  // It stands where it is to be: a crash came after its return.
  if (target !== null && headById(dir.sql, memoryId)?.path === target) return undefined;
  await drop(dir, memoryId, actor);
  return target === null && headById(dir.sql, memoryId) ? CONTENDED : undefined;
}

/** Why the memory had to stay as it is; undefined where it is as it was. */
async function goBack(
  dir: Directory,
  { memory_id: memoryId, target, sha256, aside }: LeftStep,
  actor: Actor,
): Promise<string | undefined> {
  const state = await stateOf(dir, target, sha256);
  const back = state && (await comeBack(dir, memoryId, state, actor));
  if (back?.status === "written" || back?.status === "unchanged") return undefined;
  // What made room for others does not stay away for that.
  if (aside === 1 && !headById(dir.sql, memoryId)) await putBack(dir, memoryId, actor);
  return back ? reasonOf(back) : LOST;
}

async function putBack(dir: Directory, memoryId: string, actor: Actor): Promise<void> {
  const [last] = dir.sql
    .exec<{ path: string; sha256: string }>(
      `SELECT path, sha256 FROM versions WHERE memory_id = ? AND sha256 IS NOT NULL
       ORDER BY n DESC LIMIT 1`,
      memoryId,
    )
    .toArray();
  const state = last && (await stateOf(dir, last.path, last.sha256));
  if (state) await comeBack(dir, memoryId, state, actor);
}

async function stateOf(
  dir: Directory,
  path: string | null,
  sha256: string | null,
): Promise<State | undefined> {
  if (path === null || sha256 === null) return undefined;
  const bytes = await readContent(dir, sha256);
  return bytes && { path, sha256, bytes };
}

const CONTENDED = "it was changed at the same moment";

function reasonOf(reply: WriteReply): string {
  if (reply.status === "path_conflict") return `its path is taken by ${reply.path}`;
  if (reply.status === "refused") return reply.message;
  return CONTENDED;
}

function drop(dir: Directory, memoryId: string, actor: Actor): Promise<void> {
  const decide = (): Decision<void> => {
    const head = headById(dir.sql, memoryId);
    if (!head) return finished(undefined);
    return { type: "delete", head, actor, reply: () => {} };
  };
  return applyConditionally(dir, decide, () => {});
}
