// The writes that others ask of a directory: conditions and refusals first, then `apply.ts`.

import type {
  Actor,
  Change,
  RefusalReason,
  RemoveReply,
  RemoveRequest,
  UpdateRequest,
  WriteReply,
  WriteRequest,
} from "../../../src/platform/objects/memdir-rpc.ts";
import { sha256Hex } from "../../../src/shared/files/digest.ts";
import type { Receipt } from "../../../src/shared/files/receipt.ts";
import { MEMORY_FILE_BYTES } from "../../../src/shared/limits/files.ts";
import { MEMORIES_PER_STORE } from "../../../src/shared/limits/memory.ts";
import { INDEX_FILE } from "../../../src/shared/memdir/entrypoint.ts";
import { dropsMostPointers, LOST_POINTERS_LEAST } from "../../../src/shared/memdir/index-guard.ts";
import { indexWarning } from "../../../src/shared/memdir/reconcile.ts";
import { canonicalRelative } from "../../../src/shared/safety/path.ts";
import { secretRefusal } from "../../../src/shared/safety/secret-scan.ts";
import { whyUnreadable } from "../../../src/shared/text/unreadable.ts";
import type { Written } from "./apply.ts";
import type { Decision } from "./apply-conditionally.ts";
import { applyConditionally, finished } from "./apply-conditionally.ts";
import { broughtTime } from "./brought-time.ts";
import { changedSince } from "./changed-since.ts";
import { bytesOf } from "./contents.ts";
import { type Directory, isStorageFull } from "./directory.ts";
import type { Head } from "./heads.ts";
import { aroundPath, countHeads, headAt, headById, overlapping, publicHead } from "./heads.ts";
import { replacedBy } from "./replaced.ts";
import { repeatOf } from "./same.ts";
import { deletionBy, receiptBy } from "./versions.ts";

type Refused = { status: "refused"; reason: RefusalReason; message: string };

/** Writes a path: makes the memory or changes it. */
export async function write(dir: Directory, request: WriteRequest): Promise<WriteReply> {
  const { path, bytes, condition, actor } = request;
  const problem = await refusal(dir, request, path, bytes);
  if (problem) return problem;
  const sha256 = await sha256Hex(bytes);
  const decide = (): Decision<WriteReply> => {
    const before = headAt(dir.sql, path);
    const old = before ? undefined : replacedBy(dir, request);
    const moved = old && "head" in old ? old.head : undefined;
    const since = changedSince(dir, request, before ?? moved, bytes);
    if (since !== undefined) return finished(refused("changed_since", since));
    if (condition && "ifAbsent" in condition && before) return finished(conflict(before));
    // A repeated request finds its work done, whatever its condition says of the time before.
    if (before?.sha256 === sha256) return finished(unchanged(dir, before, actor));
    if (condition && "ifMatch" in condition && before?.sha256 !== condition.ifMatch) {
      return finished(conflict(before));
    }
    const gutted = before && guttedIndex(dir, before, bytes);
    if (gutted) return finished(refused("index", gutted));
    if (old && "problem" in old) return finished(refused("path", old.problem));
    if (!before) {
      const clash = aroundPath(dir.sql, path, moved?.id);
      if (clash) return finished(pathConflict(clash));
      const full = moved ? undefined : fullStore(dir);
      if (full) return finished(full);
      const repeat = !moved && request.repeats && repeatOf(dir, path, bytes);
      if (repeat) return finished(refused("repeat", `Refused: ${path} was not saved: ${repeat}`));
    }
    const brought =
      (before ?? moved) ? undefined : broughtTime(dir.sql, { bytes, sha256 }, actor, dir.now());
    return {
      type: "put",
      change: { path, bytes, sha256, before: before ?? moved, actor, brought },
      reply: (made) => written(dir, made, request, bytes, moved),
      isLast: true,
    };
  };
  return applyConditionally(dir, decide, () => conflict(headAt(dir.sql, path)));
}

/** Changes a memory by its id: content, path, or both. The id stays. */
export async function update(dir: Directory, request: UpdateRequest): Promise<WriteReply> {
  const { id, actor, ifMatch } = request;
  const decide = async (): Promise<Decision<WriteReply>> => {
    const before = headById(dir.sql, id);
    if (!before) return finished({ status: "missing" });
    const path = request.path ?? before.path;
    const bytes = request.bytes ?? bytesOf(dir, before);
    const problem = await refusal(dir, request, path, request.bytes ?? new Uint8Array());
    if (problem) return finished(problem);
    const sha256 = request.bytes ? await sha256Hex(bytes) : before.sha256;
    // A repeated request finds its work done, whatever its condition says of the time before.
    if (before.sha256 === sha256 && before.path === path) {
      return finished(unchanged(dir, before, actor));
    }
    if (ifMatch !== undefined && ifMatch !== before.sha256) return finished(conflict(before));
    const taken = path === before.path ? undefined : overlapping(dir.sql, path, before.id);
    if (taken) return finished(pathConflict(taken));
    return {
      type: "put",
      change: { path, bytes, sha256, before, actor },
      reply: (made) => written(dir, made, request, bytes),
      isLast: true,
    };
  };
  return applyConditionally(dir, decide, () => conflict(headById(dir.sql, id)));
}

/** Deletes a memory; its versions stay and can come back. Also in an archived store. */
export async function remove(dir: Directory, request: RemoveRequest): Promise<RemoveReply> {
  const { id, path = "", actor, ifMatch } = request;
  const lease = lostLease(dir, request);
  if (lease) return lease;
  const find = () => (id === undefined ? headAt(dir.sql, path) : headById(dir.sql, id));
  const missing = (): RemoveReply => ({
    status: "missing",
    receipt: id === undefined ? deletionBy(dir.sql, path, actor) : undefined,
  });
  const changed = (head: Head): RemoveReply => ({ status: "conflict", head: publicHead(head) });
  const decide = (): Decision<RemoveReply> => {
    const head = find();
    if (!head) return finished(missing());
    if (ifMatch !== undefined && ifMatch !== head.sha256) return finished(changed(head));
    const reply = (receipt: Receipt): RemoveReply => ({ status: "removed", receipt });
    return { type: "delete", head, actor, reply };
  };
  return applyConditionally(dir, decide, () => {
    const head = find();
    return head ? changed(head) : missing();
  });
}

/** What speaks against a write, whatever is there. */
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
  const unreadable = whyUnreadable(bytes);
  if (unreadable !== undefined) {
    return refused(
      "text",
      `Cannot write ${path}: it holds ${unreadable}, and no reader would take it. A memory is UTF-8 text: take that out`,
    );
  }
  const lease = lostLease(dir, change);
  if (lease) return lease;
  const full = fullStorage(dir);
  if (full) return full;
  const hits = await dir.scan({ path, text: new TextDecoder().decode(bytes) });
  if (hits.length > 0 && change.secrets !== "warn") {
    return refused("secret", secretRefusal(path, hits));
  }
  return undefined;
}

/** What the writer learns of what it was allowed to write. */
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
  if (!lease || dir.leases.holds(lease.name, lease.token)) return undefined;
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

/** The refusal of anything new, where the database is near the platform's limit. */
export function fullStorage(dir: Directory): Refused | undefined {
  if (!isStorageFull(dir)) return undefined;
  const { sql, sizes } = dir;
  return refused(
    "storage",
    `The store's memories and versions take ${sql.databaseSize} bytes, and a store may have ${sizes.most}: it takes nothing new. ` +
      "Delete memories and redact versions that nobody needs, or use another store",
  );
}

/** The reply to content that is already there. */
export function unchanged(dir: Directory, head: Head, actor: Actor): WriteReply {
  const receipt = receiptBy(dir.sql, head.n, actor);
  return { status: "unchanged", head: publicHead(head), receipt };
}

/** The reply of a path that belongs to another memory. */
export function pathConflict({ id, path }: Head): WriteReply {
  return { status: "path_conflict", memoryId: id, path };
}

async function written(
  dir: Directory,
  { receipt, head }: Written,
  change: Change,
  bytes: Uint8Array,
  moved?: Head,
): Promise<WriteReply> {
  const renamed = moved && `It was ${moved.path}, which is gone: the memory keeps its history`;
  const told = [renamed, await warningOf(dir, change, head.path, bytes)];
  const warning = told.filter((each) => each !== undefined).join("\n") || undefined;
  return { status: "written", receipt, head: publicHead(head), warning };
}

function conflict(head: Head | undefined): WriteReply {
  return { status: "conflict", head: head ? publicHead(head) : null };
}

function refused(reason: RefusalReason, message: string): Refused {
  return { status: "refused", reason, message };
}
