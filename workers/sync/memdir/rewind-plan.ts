// What a rewind is to do, found by SQL from heads and versions: of contents at most one is in memory
// at a time. Nothing goes before it is certain that what is to come in its place can come.

import type { Change, RewindReply } from "../../../src/platform/objects/memdir-rpc.ts";
import { MEMORIES_PER_STORE } from "../../../src/shared/limits/memory.ts";
import { readContent } from "./contents.ts";
import type { Directory } from "./directory.ts";
import { countHeads, headById, overlapping } from "./heads.ts";
import { lastVersionAt } from "./versions.ts";
import { refusal } from "./write.ts";

/** Back to a time in milliseconds, or to before everything that one session wrote. */
export type RewindTo = { time: number } | { sessionId: string };

export interface Step {
  memoryId: string;
  /** Where the memory is, or was last. */
  path: string;
  /** Where it is now; absent for a memory that is gone. */
  now: string | undefined;
  /** What it is to be; null for gone. `n` is the version's number. */
  target: { n: number; path: string; sha256: string } | null;
  /** It stands where another one is to come back, and makes room first. */
  aside: boolean;
}

interface Plan {
  steps: Step[];
  skipped: RewindReply["skipped"];
}

type Row = { n: number; path: string | null; sha256: string | null; redacted_at: number | null };

/** The steps that are possible together; the others are `skipped`, and why. */
export async function planRewind(dir: Directory, to: RewindTo, change: Change): Promise<Plan> {
  const skipped: Plan["skipped"] = [];
  const steps: Step[] = [];
  const upTo = "time" in to ? lastVersionAt(dir.sql, to.time) : 0;
  for (const memoryId of touched(dir.sql, to, upTo)) {
    const found = stepOf(dir, memoryId, to, upTo);
    if (!found) continue;
    const reason = found.skip ?? (await problemOf(dir, found.step, change));
    if (reason === undefined) steps.push(found.step);
    else skipped.push({ path: found.step.path, memoryId, reason });
  }
  const left = feasible(dir, steps, skipped);
  return { steps: left.map((step) => ({ ...step, aside: inTheWay(left, step) })), skipped };
}

function touched(sql: SqlStorage, to: RewindTo, upTo: number): string[] {
  const rows =
    "time" in to
      ? sql.exec<{ id: string }>(
          "SELECT DISTINCT memory_id AS id FROM versions WHERE n > ? ORDER BY id",
          upTo,
        )
      : sql.exec<{ id: string }>(
          "SELECT DISTINCT memory_id AS id FROM versions WHERE session_id = ? ORDER BY id",
          to.sessionId,
        );
  return [...rows].map((row) => row.id);
}

/** Undefined where the memory is as it is to be. */
function stepOf(
  dir: Directory,
  memoryId: string,
  to: RewindTo,
  upTo: number,
): { step: Step; skip?: string | undefined } | undefined {
  const { sql } = dir;
  const head = headById(sql, memoryId);
  const path = head?.path ?? lastPath(sql, memoryId);
  const step: Step = { memoryId, path, now: head?.path, target: null, aside: false };
  if ("sessionId" in to && !isLastOf(sql, memoryId, to.sessionId)) {
    return { step, skip: "it was changed by somebody else since" };
  }
  const version = versionBefore(sql, memoryId, to, upTo);
  if (version && version.redacted_at !== null) {
    return { step, skip: "the version to go back to is redacted" };
  }
  if (!version || version.path === null || version.sha256 === null) {
    return head && { step };
  }
  if (head?.path === version.path && head.sha256 === version.sha256) return undefined;
  return {
    step: { ...step, target: { n: version.n, path: version.path, sha256: version.sha256 } },
  };
}

function versionBefore(
  sql: SqlStorage,
  memoryId: string,
  to: RewindTo,
  upTo: number,
): Row | undefined {
  const [where, value] =
    "time" in to ? (["n <= ?", upTo] as const) : (["session_id IS NOT ?", to.sessionId] as const);
  const rows = sql.exec<Row>(
    `SELECT n, path, sha256, redacted_at FROM versions
     WHERE memory_id = ? AND ${where} ORDER BY n DESC LIMIT 1`,
    memoryId,
    value,
  );
  return rows.toArray()[0];
}

function isLastOf(sql: SqlStorage, memoryId: string, sessionId: string): boolean {
  const rows = sql.exec<{ session_id: string | null }>(
    "SELECT session_id FROM versions WHERE memory_id = ? ORDER BY n DESC LIMIT 1",
    memoryId,
  );
  return rows.toArray()[0]?.session_id === sessionId;
}

function lastPath(sql: SqlStorage, memoryId: string): string {
  const rows = sql.exec<{ path: string }>(
    `SELECT path FROM versions WHERE memory_id = ? AND path IS NOT NULL
     ORDER BY n DESC LIMIT 1`,
    memoryId,
  );
  return rows.toArray()[0]?.path ?? "";
}

/** What speaks against a step, whatever else the rewind does. */
async function problemOf(
  dir: Directory,
  { target }: Step,
  change: Change,
): Promise<string | undefined> {
  if (target === null) return undefined;
  const bytes = await readContent(dir, target.sha256);
  if (!bytes) return LOST;
  return (await refusal(dir, change, target.path, bytes))?.message;
}

/** Why a memory stays whose former content cannot be read any more. */
export const LOST = "the file storage has lost the content to go back to";

/** The steps that do not stand in each other's way. One that stays may block another. */
function feasible(dir: Directory, steps: readonly Step[], skipped: Plan["skipped"]): Step[] {
  let left = [...steps];
  for (let before = -1; before !== left.length; ) {
    before = left.length;
    const going = new Set(left.map((step) => step.memoryId));
    let room = MEMORIES_PER_STORE - countHeads(dir.sql);
    for (const { now, target } of left) if (target === null && now !== undefined) room += 1;
    left = left.filter((step) => {
      const reason = obstacle(dir, step, going) ?? (isNew(step) && room-- <= 0 ? FULL : undefined);
      if (reason !== undefined) skipped.push({ path: step.path, memoryId: step.memoryId, reason });
      return reason === undefined;
    });
  }
  return left;
}

const FULL = `the store would hold more than the ${MEMORIES_PER_STORE} memories that it may`;

function isNew({ now, target }: Step): boolean {
  return now === undefined && target !== null;
}

function obstacle(
  dir: Directory,
  { target, memoryId }: Step,
  going: ReadonlySet<string>,
): string | undefined {
  if (target === null) return undefined;
  const taken = overlapping(dir.sql, target.path, memoryId);
  return taken && !going.has(taken.id) ? `its path is taken by ${taken.path}` : undefined;
}

/** Whether a memory that is to be elsewhere stands where another one is to come back. */
function inTheWay(steps: readonly Step[], { memoryId, now, target: own }: Step): boolean {
  if (now === undefined || own === null || own.path === now) return false;
  return steps.some(
    ({ memoryId: other, target }) =>
      other !== memoryId &&
      target !== null &&
      (target.path === now ||
        target.path.startsWith(`${now}/`) ||
        now.startsWith(`${target.path}/`)),
  );
}
