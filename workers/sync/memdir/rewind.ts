// Back in time, memory by memory. The plan is on disk before its first effect, and each step leaves it
// when it is done. A rewind that a crash cut off goes on before the next change: a step that was done
// already finds its memory as it is to be.

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
import { LOST, planRewind, type RewindTo, type Step } from "./rewind-plan.ts";
import { actorOf } from "./versions.ts";
import { fullStorage } from "./write.ts";

type Row = {
  n: number;
  memory_id: string;
  path: string;
  /** Where it is to be and with what; null for gone. */
  target: string | null;
  sha256: string | null;
  aside: number;
};

/**
 * Goes back: the whole store to a time, or everything that one session wrote. What somebody else
 * changed after the session stays, and the reply says so. Throws `unavailable` where the file storage
 * fails: then nothing has happened yet, or the rest follows by itself.
 */
export async function rewind(dir: Directory, to: RewindTo, change: Change): Promise<RewindReply> {
  const full = fullStorage(dir);
  if (full) throw new MemdirError("invalid_request", full.message);
  await importChanges(dir);
  const { steps, skipped } = await planRewind(dir, to, change);
  if (steps.length === 0) return { changed: [], skipped };
  dir.commit(() => recordPlan(dir.sql, steps, change.actor));
  // Whoever asked may be gone when a crash is over: the alarm wakes the object.
  dir.later();
  const done = await finishRewind(dir);
  return { changed: done.changed, skipped: [...skipped, ...done.skipped] };
}

/** Goes on with a rewind that is on disk, if there is one. Throws `unavailable` as `rewind` does. */
export async function finishRewind(dir: Directory): Promise<RewindReply> {
  const reply: RewindReply = { changed: [], skipped: [] };
  const [row] = dir.sql.exec<{ actor: string }>("SELECT actor FROM rewinds").toArray();
  if (!row) return reply;
  const actor = actorOf(row.actor);
  for (const step of steps(dir.sql, "s.target IS NULL OR s.aside = 1")) {
    await makeRoom(dir, step, actor, reply.changed);
  }
  for (const step of steps(dir.sql, "s.target IS NOT NULL")) {
    await goBack(dir, step, actor, reply);
    dropStep(dir, step);
  }
  dir.commit(() => dir.sql.exec("DELETE FROM rewinds"));
  return reply;
}

function recordPlan(sql: SqlStorage, planned: readonly Step[], actor: Actor): void {
  sql.exec("INSERT INTO rewinds (id, actor) VALUES (1, ?)", JSON.stringify(actor));
  for (const { memoryId, path, target, aside } of planned) {
    sql.exec(
      "INSERT INTO rewind_steps (memory_id, path, target, aside) VALUES (?, ?, ?, ?)",
      memoryId,
      path,
      target?.n ?? null,
      aside ? 1 : 0,
    );
  }
}

/** The steps that are left, in their order, one at a time: rows go while this runs. */
function* steps(sql: SqlStorage, which: string): Generator<Row> {
  for (let after = 0; ; ) {
    const [row] = sql
      .exec<Row>(
        `SELECT s.n, s.memory_id, s.path, v.path AS target, v.sha256, s.aside
         FROM rewind_steps AS s LEFT JOIN versions AS v ON v.n = s.target
         WHERE s.n > ? AND (${which}) ORDER BY s.n LIMIT 1`,
        after,
      )
      .toArray();
    if (!row) return;
    yield row;
    after = row.n;
  }
}

/** Takes away what is to be gone, and what is to be elsewhere and stands in another one's way. */
async function makeRoom(
  dir: Directory,
  step: Row,
  actor: Actor,
  changed: Receipt[],
): Promise<void> {
  const { memory_id: memoryId, target } = step;
  // It stands where it is to be: a crash came after its return.
  if (target !== null && headById(dir.sql, memoryId)?.path === target) return;
  const receipt = await drop(dir, memoryId, actor);
  if (target !== null) return;
  if (receipt) changed.push(receipt);
  dropStep(dir, step);
}

async function goBack(
  dir: Directory,
  { memory_id: memoryId, path, target, sha256, aside }: Row,
  actor: Actor,
  reply: RewindReply,
): Promise<void> {
  const state = await stateOf(dir, target, sha256);
  const back = state && (await comeBack(dir, memoryId, state, actor));
  if (back?.status === "written") reply.changed.push(back.receipt);
  if (back?.status === "written" || back?.status === "unchanged") return;
  reply.skipped.push({ path, memoryId, reason: back ? reasonOf(back) : LOST });
  // What made room for others does not stay away for that.
  if (aside === 1 && !headById(dir.sql, memoryId)) await putBack(dir, memoryId, actor);
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

function reasonOf(reply: WriteReply): string {
  if (reply.status === "path_conflict") return `its path is taken by ${reply.path}`;
  if (reply.status === "refused") return reply.message;
  return "it was changed at the same moment";
}

function dropStep(dir: Directory, { n }: Row): void {
  dir.commit(() => dir.sql.exec("DELETE FROM rewind_steps WHERE n = ?", n));
}

function drop(dir: Directory, memoryId: string, actor: Actor): Promise<Receipt | undefined> {
  const decide = (): Decision<Receipt | undefined> => {
    const head = headById(dir.sql, memoryId);
    if (!head) return finished(undefined);
    return { type: "delete", head, actor, reply: (receipt) => receipt };
  };
  return applyConditionally(dir, decide, () => undefined);
}
