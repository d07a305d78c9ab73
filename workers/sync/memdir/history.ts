// Undo. Nothing ever leaves the history: going back appends versions too.

import type {
  Actor,
  Change,
  RewindReply,
  Version,
  WriteReply,
} from "../../../src/platform/objects/memdir-rpc.ts";
import { MemdirError } from "../../../src/shared/errors.ts";
import { sha256Hex } from "../../../src/shared/files/digest.ts";
import type { Receipt } from "../../../src/shared/files/receipt.ts";
import type { Decision } from "./apply-conditionally.ts";
import { applyConditionally, finished } from "./apply-conditionally.ts";
import type { Directory } from "./directory.ts";
import type { Head } from "./heads.ts";
import { headById, overlapping, publicHead } from "./heads.ts";
import { bytesOf, importChanges } from "./import.ts";
import { redactVersion, versionById, versionsOfMemory } from "./versions.ts";
import { fullStore, pathConflict, refusal, unchanged } from "./write.ts";

/** Brings a version back, with its path and id, whatever became of the memory since. */
export async function restore(
  dir: Directory,
  versionId: string,
  change: Change,
): Promise<WriteReply> {
  const version = versionById(dir.sql, versionId);
  if (!version) return { status: "missing" };
  const state = stateOf(version);
  if (!state) {
    throw new MemdirError(
      "invalid_request",
      version.redactedAt === null
        ? "This version is a deletion and has no content. Restore the one before it"
        : "This version is redacted: its content is gone",
    );
  }
  return put(dir, version.memoryId, state, change);
}

/**
 * Goes back: the whole store to a time, or everything that one session wrote. What somebody else
 * changed after the session stays, and the reply says so.
 */
export async function rewind(
  dir: Directory,
  to: { time: number } | { sessionId: string },
  change: Change,
): Promise<RewindReply> {
  await importChanges(dir);
  const changed: Receipt[] = [];
  const skipped: RewindReply["skipped"] = [];
  const steps: Step[] = [];
  for (const step of memoriesSince(dir, to).map((id) => planOf(dir, id, to))) {
    const { path, memoryId } = step;
    if (step.skip === undefined) steps.push(step);
    else skipped.push({ path, memoryId, reason: step.skip });
  }
  // Nothing goes before it is certain that what is to come in its place can come.
  const undone = await feasible(dir, steps, change, skipped);
  const aside = new Map<string, State>();
  for (const step of undone) {
    const now = headById(dir.sql, step.memoryId);
    if (!now || now.path === step.target?.path) continue;
    if (step.target !== null && !inTheWay(undone, now)) continue;
    const before = { path: now.path, bytes: bytesOf(dir, now) };
    const receipt = await drop(dir, step.memoryId, change.actor);
    if (!receipt) continue;
    if (step.target === null) changed.push(receipt);
    else aside.set(step.memoryId, before);
  }
  for (const { memoryId, path, target } of undone) {
    if (target === null) continue;
    const reply = await put(dir, memoryId, target, change);
    if (reply.status === "written") changed.push(reply.receipt);
    if (reply.status === "written" || reply.status === "unchanged") continue;
    skipped.push({ path, memoryId, reason: reasonOf(reply) });
    const before = aside.get(memoryId);
    if (before) await put(dir, memoryId, before, change);
  }
  return { changed, skipped };
}

/** The steps that are possible together; the others go to `skipped`. One that stays may block another. */
async function feasible(
  dir: Directory,
  steps: readonly Step[],
  change: Change,
  skipped: RewindReply["skipped"],
): Promise<Step[]> {
  let left = [...steps];
  for (let before = -1; before !== left.length; ) {
    before = left.length;
    const going = new Set(left.map((step) => step.memoryId));
    const kept: Step[] = [];
    for (const step of left) {
      const reason = await obstacle(dir, step, change, going);
      if (reason === undefined) kept.push(step);
      else skipped.push({ path: step.path, memoryId: step.memoryId, reason });
    }
    left = kept;
  }
  return left;
}

async function obstacle(
  dir: Directory,
  { target, memoryId }: Step,
  change: Change,
  going: ReadonlySet<string>,
): Promise<string | undefined> {
  if (target === null) return undefined;
  const problem = await refusal(dir, change, target.path, target.bytes);
  if (problem) return problem.message;
  const taken = overlapping(dir.sql, target.path, memoryId);
  if (taken && !going.has(taken.id)) return `its path is taken by ${taken.path}`;
  return undefined;
}

/** Whether a memory stands where another one is to come back. */
function inTheWay(steps: readonly Step[], now: Head): boolean {
  return steps.some(
    ({ memoryId, target }) =>
      memoryId !== now.id &&
      target !== null &&
      (target.path === now.path ||
        target.path.startsWith(`${now.path}/`) ||
        now.path.startsWith(`${target.path}/`)),
  );
}

function reasonOf(reply: WriteReply): string {
  if (reply.status === "path_conflict") return `its path is taken by ${reply.path}`;
  if (reply.status === "refused") return reply.message;
  return "it was changed at the same moment";
}

/** Takes a version's content out of the history. Not that of a memory's present content. */
export function redact(dir: Directory, versionId: string, actor: Actor): Version | undefined {
  const version = versionById(dir.sql, versionId);
  if (!version) return undefined;
  if (headById(dir.sql, version.memoryId)?.versionId === versionId) {
    throw new MemdirError(
      "conflict",
      "This version is the memory's present content. Change or delete the memory, then redact it",
    );
  }
  dir.commit(() => redactVersion(dir.sql, versionId, actor, dir.now()));
  return versionById(dir.sql, versionId);
}

interface State {
  path: string;
  bytes: Uint8Array;
}

interface Step {
  memoryId: string;
  path: string;
  /** What it is to be; null for gone. */
  target: State | null;
  skip?: string | undefined;
}

function memoriesSince(dir: Directory, to: { time: number } | { sessionId: string }): string[] {
  const rows =
    "time" in to
      ? dir.sql.exec<{ id: string }>(
          "SELECT DISTINCT memory_id AS id FROM versions WHERE at > ? ORDER BY memory_id",
          to.time,
        )
      : dir.sql.exec<{ id: string }>(
          "SELECT DISTINCT memory_id AS id FROM versions WHERE session_id = ? ORDER BY memory_id",
          to.sessionId,
        );
  return [...rows].map((row) => row.id);
}

function planOf(
  dir: Directory,
  memoryId: string,
  to: { time: number } | { sessionId: string },
): Step {
  const versions = versionsOfMemory(dir.sql, memoryId);
  const path = versions.findLast((version) => version.path !== null)?.path ?? "";
  if ("time" in to) {
    return stepTo(
      memoryId,
      path,
      versions.findLast((version) => version.at <= to.time),
    );
  }
  const byOther = (version: Version) =>
    version.actor.type !== "session" || version.actor.sessionId !== to.sessionId;
  const last = versions.at(-1);
  if (last && byOther(last)) {
    return { memoryId, path, target: null, skip: "it was changed by somebody else since" };
  }
  return stepTo(memoryId, path, versions.findLast(byOther));
}

function stepTo(memoryId: string, path: string, version: Version | undefined): Step {
  if (version?.redactedAt !== null && version !== undefined) {
    return { memoryId, path, target: null, skip: "the version to go back to is redacted" };
  }
  return { memoryId, path, target: (version && stateOf(version)) ?? null };
}

function stateOf(version: Version): State | undefined {
  if (version.path === null || version.sha256 === null) return undefined;
  return { path: version.path, bytes: version.bytes ?? new Uint8Array() };
}

async function put(
  dir: Directory,
  memoryId: string,
  state: State,
  change: Change,
): Promise<WriteReply> {
  const { path, bytes } = state;
  const { actor } = change;
  const problem = await refusal(dir, change, path, bytes);
  if (problem) return problem;
  const sha256 = await sha256Hex(bytes);
  const decide = (): Decision<WriteReply> => {
    const before = headById(dir.sql, memoryId);
    if (before?.path === path && before.sha256 === sha256) {
      return finished(unchanged(dir, before, actor));
    }
    const full = before ? undefined : fullStore(dir);
    if (full) return finished(full);
    const taken = overlapping(dir.sql, path, memoryId);
    if (taken) return finished(pathConflict(taken));
    return {
      type: "put",
      change: { path, bytes, sha256, before, memoryId, actor },
      reply: ({ receipt, head }) => ({ status: "written", receipt, head: publicHead(head) }),
    };
  };
  return applyConditionally(dir, decide, () => ({ status: "conflict", head: null }));
}

function drop(dir: Directory, memoryId: string, actor: Actor): Promise<Receipt | undefined> {
  const decide = (): Decision<Receipt | undefined> => {
    const head = headById(dir.sql, memoryId);
    if (!head) return finished(undefined);
    return { type: "delete", head, actor, reply: (receipt) => receipt };
  };
  return applyConditionally(dir, decide, () => undefined);
}
