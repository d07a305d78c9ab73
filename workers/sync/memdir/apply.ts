// How a change reaches R2 and the index. Three steps, in this order: the intent is on disk, R2 holds
// the change on the condition that it held what we know, and one transaction makes the version and
// the new head. `recover` finishes what a crash cut off between them: from the second step on a change
// holds, so the answer need not wait for the third. Where R2 refuses for now, the commit follows all
// the same and the path goes into the outbox: this object holds the content and answers every read; R2
// follows, with the newest content only.

import { newId } from "../../../src/platform/ids.ts";
import type { Actor } from "../../../src/platform/objects/memdir-rpc.ts";
import { MemdirError } from "../../../src/shared/errors.ts";
import type { Receipt } from "../../../src/shared/files/receipt.ts";
import { deleteInR2, putInR2 } from "./conditional-r2.ts";
import type { Content, StoredContent } from "./contents.ts";
import { addContent, contentHere, dropUnused } from "./contents.ts";
import type { Directory } from "./directory.ts";
import type { Head } from "./heads.ts";
import { dropHead, headById, putHead } from "./heads.ts";
import { addIntent, dropIntent, type Intent, leftIntents } from "./intents.ts";
import { enterOutbox, leaveOutbox, pendingEtag } from "./outbox.ts";
import { addVersion, firstTime, nextVersion } from "./versions.ts";

/** R2 holds something that we do not know: import it first. Nothing was changed. */
export type ChangedOutside = "changed_outside";

export interface PutChange extends Content {
  path: string;
  /** The memory that changes; absent for a new one. */
  before: Head | undefined;
  /** A memory id to come back under. */
  memoryId?: string | undefined;
  /** When the content of a new memory last changed, if that was before it came here. */
  brought?: number | undefined;
  actor: Actor;
}

export interface Written {
  receipt: Receipt;
  head: Head;
}

/**
 * Writes content, and moves the memory where the path is another. `isLast`: the caller reads no rows
 * after this, so that the commit may come after its reply.
 */
export async function applyPut(
  dir: Directory,
  change: PutChange,
  isLast: boolean,
): Promise<Written | ChangedOutside> {
  const { sql } = dir;
  const { before, path, sha256 } = change;
  const from = before && before.path !== path ? before : undefined;
  const at = dir.now();
  const there = knownOf(sql, path, from ? undefined : before);
  const left = from && knownOf(sql, from.path, from);
  const { id, intent, content } = dir.commit(() => {
    const content = addContent(sql, change);
    const intent: Intent = {
      op: "put",
      path,
      from: from?.path,
      memoryId: before?.id ?? change.memoryId ?? newId("mem"),
      versionId: newId("memver"),
      createdAt: before?.createdAt ?? firstTime(sql, change.memoryId) ?? change.brought ?? at,
      at,
      updatedAt: before?.sha256 === sha256 ? before.updatedAt : (change.brought ?? at),
      actor: change.actor,
      etag: there.etag,
      fromEtag: left?.etag ?? null,
      late: there.late || left?.late === true,
      content: { n: content.n, sha256 },
    };
    return { id: addIntent(sql, intent), intent, content };
  });
  const put: Put = { id, intent, content, operation: before ? "modified" : "created" };
  const stored = await storeInR2(dir, intent, content);
  if (stored === "changed_outside") {
    dir.commit(() => {
      dropIntent(sql, id);
      dropUnused(sql, content);
    });
    return stored;
  }
  if (!isLast || stored.pending.size > 0) return commitPut(dir, put, stored);
  dir.afterReply(() => void commitPut(dir, put, stored));
  return writtenBy(put, stored, nextVersion(sql));
}

/** Deletes a memory; its versions stay. */
export async function applyDelete(
  dir: Directory,
  before: Head,
  actor: Actor,
): Promise<Receipt | ChangedOutside> {
  const at = dir.now();
  const { id: memoryId, path, createdAt } = before;
  const intent: Intent = {
    op: "delete",
    path,
    memoryId,
    versionId: newId("memver"),
    createdAt,
    at,
    updatedAt: at,
    actor,
    ...knownOf(dir.sql, path, before),
    fromEtag: null,
    content: null,
  };
  const id = dir.commit(() => addIntent(dir.sql, intent));
  return finishDelete(dir, id, intent);
}

/** Finishes what a crash left between intent and commit. */
export async function recover(dir: Directory): Promise<void> {
  for (const { id, intent } of leftIntents(dir.sql)) {
    if (!intent) {
      dir.commit(() => dropIntent(dir.sql, id));
    } else if (intent.content === null) {
      await finishDelete(dir, id, intent);
    } else {
      const bytes = contentHere(dir.sql, intent.content.n);
      if (!bytes) throw new MemdirError("internal", "An intent has lost its content");
      const content = { ...intent.content, bytes };
      const operation = headById(dir.sql, intent.memoryId) ? "modified" : "created";
      const stored = await storeInR2(dir, intent, content);
      const known = stored === "changed_outside" ? overwritten(intent) : stored;
      commitPut(dir, { id, intent, content, operation }, known);
    }
  }
}

/**
 * R2 has something else where a change may have been acknowledged: then somebody put it there since.
 * The change holds, and no etag leads to it; an import makes a version of what is there now.
 */
function overwritten({ from, fromEtag }: Intent): StoredInR2 {
  return { etag: OVERWRITTEN, pending: new Map(from === undefined ? [] : [[from, fromEtag]]) };
}

/** No etag of R2, as it has a blank. */
const OVERWRITTEN = "not known";

/** A put that R2 has, or may have, and the rows do not. */
interface Put {
  id: number;
  intent: Intent;
  content: StoredContent;
  operation: "created" | "modified";
}

function commitPut(dir: Directory, put: Put, stored: StoredInR2): Written {
  const { id, intent, content, operation } = put;
  return dir.commit(() => {
    dropIntent(dir.sql, id);
    const { n } = commitVersion(dir, intent, operation, content, stored);
    const written = writtenBy(put, stored, n);
    if (intent.from !== undefined) dropHead(dir.sql, intent.from);
    putHead(dir.sql, written.head, content.bytes);
    return written;
  });
}

function writtenBy({ intent, content, operation }: Put, { etag }: StoredInR2, n: number): Written {
  const { path, memoryId, versionId, createdAt, updatedAt } = intent;
  const head: Head = {
    id: memoryId,
    path,
    n,
    versionId,
    content: content.n,
    sha256: content.sha256,
    size: content.bytes.length,
    createdAt,
    updatedAt,
    etag,
  };
  return { receipt: { path, operation, memoryId, versionId, n }, head };
}

async function finishDelete(
  dir: Directory,
  id: number,
  intent: Intent,
): Promise<Receipt | ChangedOutside> {
  const stored = await storeInR2(dir, intent, undefined);
  return dir.commit(() => {
    dropIntent(dir.sql, id);
    if (stored === "changed_outside") return stored;
    dropHead(dir.sql, intent.path);
    return commitVersion(dir, intent, "deleted", undefined, stored);
  });
}

interface StoredInR2 {
  /** The etag of the new content; null where R2 does not have it yet. */
  etag: string | null;
  /** Paths that R2 does not have as they are to be, with the etag of what it has. */
  pending: Map<string, string | null>;
}

async function storeInR2(
  dir: Directory,
  intent: Intent,
  content: Content | undefined,
): Promise<StoredInR2 | ChangedOutside> {
  const pending = new Map<string, string | null>();
  let etag: string | null = null;
  if (content) {
    const put = await putInR2(dir, intent.path, content.bytes, content.sha256, intent.etag);
    if (put === "changed_outside") return put;
    if (put === "not_now") pending.set(intent.path, intent.etag);
    else etag = put;
  }
  const gone = goneOf(intent);
  const goneEtag = intent.op === "delete" ? intent.etag : intent.fromEtag;
  if (gone === undefined) return { etag, pending };
  if (goneEtag === null) {
    if (pendingEtag(dir.sql, gone) !== undefined) pending.set(gone, null);
    return { etag, pending };
  }
  const removed = await deleteInR2(dir, gone, goneEtag);
  // What somebody put at the old place of a moved memory becomes a memory of its own.
  if (removed === "changed_outside" && intent.op === "delete") return removed;
  if (removed === "not_now") pending.set(gone, goneEtag);
  return { etag, pending };
}

/** Where nothing is to be any more. */
function goneOf({ op, path, from }: Intent): string | undefined {
  return op === "delete" ? path : from;
}

/** The version, and what R2 lacks: it is in the outbox from now on. */
function commitVersion(
  dir: Directory,
  intent: Intent,
  operation: Receipt["operation"],
  content: StoredContent | undefined,
  { pending }: StoredInR2,
): Receipt {
  const { sql } = dir;
  const { path, from, memoryId, versionId, at, actor, late } = intent;
  const gone = goneOf(intent);
  const version = { id: versionId, memoryId, operation, path, gone, content, actor, at };
  const n = addVersion(sql, version);
  for (const known of late ? [path, from] : []) {
    if (known !== undefined && !pending.has(known)) leaveOutbox(sql, known);
  }
  for (const [missing, etag] of pending) enterOutbox(sql, missing, etag);
  if (pending.size > 0) dir.later();
  return { path, operation, memoryId, versionId, n };
}

/**
 * What R2 has at a path as far as we know, null for nothing, and whether the outbox has the path. A
 * memory whose head has an etag is not in there.
 */
function knownOf(
  sql: SqlStorage,
  path: string,
  head: Head | undefined,
): { etag: string | null; late: boolean } {
  if (head && head.etag !== null) return { etag: head.etag, late: false };
  const pending = pendingEtag(sql, path);
  return { etag: pending ?? null, late: pending !== undefined };
}
