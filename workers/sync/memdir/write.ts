// The writes that a directory is asked for: conditions and refusals first, then `apply.ts`.

import type {
  Change,
  RefusalReason,
  RemoveReply,
  RemoveRequest,
  UpdateRequest,
  WriteReply,
  WriteRequest,
} from "../../../src/platform/objects/memdir-rpc.ts";
import { sha256Hex } from "../../../src/shared/files/digest.ts";
import { MEMORY_FILE_BYTES } from "../../../src/shared/limits/files.ts";
import { MEMORIES_PER_STORE } from "../../../src/shared/limits/memory.ts";
import { INDEX_FILE } from "../../../src/shared/memdir/entrypoint.ts";
import { dropsMostPointers, LOST_POINTERS_LEAST } from "../../../src/shared/memdir/index-guard.ts";
import { indexWarning } from "../../../src/shared/memdir/reconcile.ts";
import { canonicalRelative } from "../../../src/shared/safety/path.ts";
import { secretRefusal } from "../../../src/shared/safety/secret-scan.ts";
import type { Applied } from "./apply.ts";
import { applyDelete, applyPut } from "./apply.ts";
import type { Directory } from "./directory.ts";
import type { Head } from "./heads.ts";
import { countHeads, headAt, headById, overlapping, told } from "./heads.ts";
import { bytesOf, takeInPath } from "./import.ts";
import { holdsLease } from "./leases.ts";

/** Times that a write without a condition is tried again over what it finds in R2. */
const OUTSIDE_TRIES = 5;

type Refused = { status: "refused"; reason: RefusalReason; message: string };

/** Writes a path: makes the memory or changes it. */
export async function write(dir: Directory, request: WriteRequest): Promise<WriteReply> {
  const { path, bytes, condition } = request;
  const problem = await refusal(dir, request, path, bytes);
  if (problem) return problem;
  const sha256 = await sha256Hex(bytes);
  for (let tries = 0; ; tries += 1) {
    const before = headAt(dir.sql, path);
    if (condition && "ifAbsent" in condition && before) return conflict(before);
    if (condition && "ifMatch" in condition && before?.sha256 !== condition.ifMatch) {
      if (before?.sha256 === sha256) return { status: "unchanged", head: told(before) };
      return conflict(before);
    }
    if (before?.sha256 === sha256) return { status: "unchanged", head: told(before) };
    const gutted = before && guttedIndex(dir, before, bytes);
    if (gutted) return refused("index", gutted);
    if (!before) {
      const clash = overlapping(dir.sql, path);
      if (clash) return { status: "path_conflict", memoryId: clash.id, path: clash.path };
      const full = fullStore(dir);
      if (full) return full;
    }
    const change = { path, bytes, sha256, before, actor: request.actor };
    const reply = written(await applyPut(dir, change));
    if (reply) return withWarning(reply, await warningOf(dir, request, path, bytes));
    await takeInPath(dir, path);
    if (tries >= OUTSIDE_TRIES) return conflict(headAt(dir.sql, path));
  }
}

/** Changes a memory by its id: content, path, or both. The id stays. */
export async function update(dir: Directory, request: UpdateRequest): Promise<WriteReply> {
  for (let tries = 0; ; tries += 1) {
    const before = headById(dir.sql, request.id);
    if (!before) return { status: "missing" };
    const path = request.path ?? before.path;
    const bytes = request.bytes ?? bytesOf(dir, before);
    const problem = await refusal(dir, request, path, request.bytes ?? new Uint8Array());
    if (problem) return problem;
    const sha256 = request.bytes ? await sha256Hex(bytes) : before.sha256;
    // A repeated request finds its work done, whatever its condition says of the time before.
    if (before.sha256 === sha256 && before.path === path) {
      return { status: "unchanged", head: told(before) };
    }
    if (request.ifMatch !== undefined && request.ifMatch !== before.sha256) return conflict(before);
    const taken = path === before.path ? undefined : overlapping(dir.sql, path, before.id);
    if (taken) return { status: "path_conflict", memoryId: taken.id, path: taken.path };
    const change = { path, bytes, sha256, before, actor: request.actor };
    const reply = written(await applyPut(dir, change));
    if (reply) return withWarning(reply, await warningOf(dir, request, path, bytes));
    await takeInPath(dir, path);
    if (tries >= OUTSIDE_TRIES) return conflict(headById(dir.sql, request.id));
  }
}

/** Deletes a memory; its versions stay and can be restored. Also in an archived store. */
export async function remove(dir: Directory, request: RemoveRequest): Promise<RemoveReply> {
  const lease = lostLease(dir, request);
  if (lease) return lease;
  for (let tries = 0; ; tries += 1) {
    const before =
      request.id === undefined
        ? headAt(dir.sql, request.path ?? "")
        : headById(dir.sql, request.id);
    if (!before) return { status: "missing" };
    if (request.ifMatch !== undefined && request.ifMatch !== before.sha256) {
      return { status: "conflict", head: told(before) };
    }
    const applied = await applyDelete(dir, before, request.actor);
    if (applied.status === "applied") return { status: "removed", receipt: applied.receipt };
    await takeInPath(dir, before.path);
    if (tries >= OUTSIDE_TRIES) return { status: "conflict", head: told(before) };
  }
}

/** What speaks against a write before it is looked at what is there. */
export async function refusal(
  dir: Directory,
  change: Change,
  path: string,
  bytes: Uint8Array,
): Promise<Refused | undefined> {
  const canonical = canonicalRelative(path);
  if (canonical.status !== "ok") return refused("path", canonical.message);
  if (canonical.path !== path) {
    return refused("path", `Cannot write "${path}": write it as "${canonical.path}"`);
  }
  if (dir.meta.archivedAt !== null) {
    return refused("archived", "This memory store is archived: it can be read, not written");
  }
  if (bytes.length > MEMORY_FILE_BYTES) {
    return refused(
      "too_large",
      `Cannot write ${path}: ${bytes.length} bytes, more than the ${MEMORY_FILE_BYTES} that a memory may have. Split it`,
    );
  }
  const lease = lostLease(dir, change);
  if (lease) return lease;
  const hits = await dir.scan({ path, text: new TextDecoder().decode(bytes) });
  if (hits.length > 0 && change.secrets !== "warn") {
    return refused("secret", secretRefusal(path, hits));
  }
  return undefined;
}

/** What the writer is told of what it was allowed to write. */
async function warningOf(
  dir: Directory,
  change: Change,
  path: string,
  bytes: Uint8Array,
): Promise<string | undefined> {
  const text = new TextDecoder().decode(bytes);
  if (path === INDEX_FILE && dir.meta.kind !== "custom") return indexWarning(text);
  if (change.secrets !== "warn") return undefined;
  const hits = await dir.scan({ path, text });
  if (hits.length === 0) return undefined;
  const places = hits.map(({ rule, line }) => `${rule} in line ${line}`).join(", ");
  return `Warning: this looks like a secret (${places}) and was stored because settings allow it. Take it out unless it is meant to be here`;
}

/** A rewritten index that lost the lines of files which are still there is a slip, not a wish. */
function guttedIndex(dir: Directory, before: Head, bytes: Uint8Array): string | undefined {
  if (before.path !== INDEX_FILE || dir.meta.kind === "custom") return undefined;
  const decode = (content: Uint8Array) => new TextDecoder().decode(content);
  const dropped = dropsMostPointers(decode(bytesOf(dir, before)), decode(bytes));
  if (!dropped) return undefined;
  const orphans = dropped.lost.filter((path) => headAt(dir.sql, path) !== undefined);
  const slip = dropped.placeholder !== undefined || orphans.length >= LOST_POINTERS_LEAST;
  return slip ? dropped.message : undefined;
}

function lostLease(dir: Directory, { lease }: Change): Refused | undefined {
  if (!lease || holdsLease(dir, lease.name, lease.token)) return undefined;
  return refused("lease_lost", `The ${lease.name} lease has passed on; nothing was written`);
}

/** The refusal of one memory more, where the store has no room. */
export function fullStore(dir: Directory): Refused | undefined {
  if (countHeads(dir.sql) < MEMORIES_PER_STORE) return undefined;
  return refused(
    "full",
    `The store holds ${MEMORIES_PER_STORE} memories, the most it may. Delete or merge some first`,
  );
}

function written(applied: Applied): WriteReply | undefined {
  if (applied.status !== "applied" || !applied.head) return undefined;
  return { status: "written", receipt: applied.receipt, head: told(applied.head) };
}

function withWarning(reply: WriteReply, warning: string | undefined): WriteReply {
  return reply.status === "written" && warning !== undefined ? { ...reply, warning } : reply;
}

function conflict(head: Head | undefined): WriteReply {
  return { status: "conflict", head: head ? told(head) : null };
}

function refused(reason: RefusalReason, message: string): Refused {
  return { status: "refused", reason, message };
}
