// How a change reaches R2 and the index. Three steps, in this order: the intent is on disk, R2 holds
// the change on the condition that it held what we know, and one transaction makes the version and
// the new head. `recover` finishes what a crash cut off between them. Where R2 refuses for now, the
// commit follows all the same and the path goes into the outbox: this object holds the content and
// answers every read; R2 follows, with the newest content only.

import * as z from "zod";
import { newId } from "../../../src/platform/ids.ts";
import type { Actor } from "../../../src/platform/objects/memdir-rpc.ts";
import { MemdirError } from "../../../src/shared/errors.ts";
import type { Receipt } from "../../../src/shared/files/receipt.ts";
import { deleteInR2, putInR2 } from "./conditional-r2.ts";
import { addContent, contentHere, dropUnused } from "./contents.ts";
import type { Directory } from "./directory.ts";
import type { Head } from "./heads.ts";
import { headAt, headById, putHead } from "./heads.ts";
import { pendingEtag } from "./outbox.ts";
import { addVersion } from "./versions.ts";

const intentSchema = z.object({
  op: z.enum(["put", "delete"]),
  /** Where the memory is to be; for a deletion where it was. */
  path: z.string(),
  /** Where it was, for a rename. */
  from: z.string().optional(),
  memoryId: z.string(),
  versionId: z.string(),
  createdAt: z.number(),
  at: z.number(),
  /** When the content last changed; a rename does not change it. */
  updatedAt: z.number(),
  actor: z.string(),
  /** What R2 has at `path` as far as we know. */
  etag: z.string().nullable(),
  fromEtag: z.string().nullable(),
  /** The content, which is in `contents`; null for a deletion. */
  sha256: z.string().nullable(),
});
type Intent = z.infer<typeof intentSchema>;

interface Content {
  bytes: Uint8Array;
  sha256: string;
}

/** R2 holds something that we do not know: import it first. Nothing was changed. */
export type ChangedOutside = "changed_outside";

export interface PutChange extends Content {
  path: string;
  /** The memory that changes; absent for a new one. */
  before: Head | undefined;
  /** A memory id to come back under. */
  memoryId?: string | undefined;
  actor: Actor;
}

export interface Written {
  receipt: Receipt;
  head: Head;
}

/** Writes content, and moves the memory where the path is another. */
export async function applyPut(
  dir: Directory,
  change: PutChange,
): Promise<Written | ChangedOutside> {
  const { before, path, bytes, sha256 } = change;
  const moved = before !== undefined && before.path !== path;
  const at = dir.now();
  const intent: Intent = {
    op: "put",
    path,
    from: moved ? before.path : undefined,
    memoryId: before?.id ?? change.memoryId ?? newId("mem"),
    versionId: newId("memver"),
    createdAt: before?.createdAt ?? firstTime(dir.sql, change.memoryId) ?? at,
    at,
    updatedAt: before?.sha256 === sha256 ? before.updatedAt : at,
    actor: JSON.stringify(change.actor),
    etag: knownEtag(dir.sql, path),
    fromEtag: moved ? knownEtag(dir.sql, before.path) : null,
    sha256,
  };
  const content = { bytes, sha256 };
  const id = recordIntent(dir, intent, content);
  return finish(dir, id, intent, content, (stored) => commitPut(dir, id, intent, content, stored));
}

/** Deletes a memory; its versions stay. */
export async function applyDelete(
  dir: Directory,
  before: Head,
  actor: Actor,
): Promise<Receipt | ChangedOutside> {
  const at = dir.now();
  const intent: Intent = {
    op: "delete",
    path: before.path,
    memoryId: before.id,
    versionId: newId("memver"),
    createdAt: before.createdAt,
    at,
    updatedAt: at,
    actor: JSON.stringify(actor),
    etag: knownEtag(dir.sql, before.path),
    fromEtag: null,
    sha256: null,
  };
  const id = recordIntent(dir, intent, undefined);
  return finish(dir, id, intent, undefined, (stored) => commitDelete(dir, id, intent, stored));
}

/** Finishes what a crash left between intent and commit. */
export async function recover(dir: Directory): Promise<void> {
  const rows = dir.sql
    .exec<{ id: number; body: string }>("SELECT id, body FROM intents ORDER BY id")
    .toArray();
  for (const { id, body } of rows) {
    const parsed = intentSchema.safeParse(JSON.parse(body));
    if (!parsed.success) {
      dir.commit(() => dropIntent(dir.sql, id));
      continue;
    }
    const intent = parsed.data;
    if (intent.sha256 === null) {
      await finish(dir, id, intent, undefined, (done) => commitDelete(dir, id, intent, done));
      continue;
    }
    const bytes = contentHere(dir.sql, intent.sha256);
    if (!bytes) throw new MemdirError("internal", "An intent has lost its content");
    const content = { bytes, sha256: intent.sha256 };
    await finish(dir, id, intent, content, (done) => commitPut(dir, id, intent, content, done));
  }
}

/** The content is on disk with the intent, in its own place: the commit need not write it again. */
function recordIntent(dir: Directory, intent: Intent, content: Content | undefined): number {
  const { sql } = dir;
  return dir.commit(() => {
    if (content) addContent(sql, content);
    const body = JSON.stringify(intent);
    return sql
      .exec<{ id: number }>("INSERT INTO intents (body) VALUES (?) RETURNING id", body)
      .one().id;
  });
}

function dropIntent(sql: SqlStorage, id: number): void {
  sql.exec("DELETE FROM intents WHERE id = ?", id);
}

async function finish<T>(
  dir: Directory,
  id: number,
  intent: Intent,
  content: Content | undefined,
  commit: (stored: StoredInR2) => T,
): Promise<T | ChangedOutside> {
  const stored = await storeInR2(dir, intent, content);
  if (stored === "changed_outside") {
    dir.commit(() => {
      dropIntent(dir.sql, id);
      if (content) dropUnused(dir.sql, content.sha256);
    });
    return stored;
  }
  return dir.commit(() => commit(stored));
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
  const gone = intent.op === "delete" ? intent.path : intent.from;
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

function commitPut(
  dir: Directory,
  id: number,
  intent: Intent,
  content: Content,
  stored: StoredInR2,
): Written {
  const { sql } = dir;
  const operation = headById(sql, intent.memoryId) ? "modified" : "created";
  const receipt = commitVersion(dir, id, intent, operation, content, stored);
  const head: Head = {
    id: intent.memoryId,
    path: intent.path,
    n: receipt.n,
    versionId: intent.versionId,
    sha256: content.sha256,
    size: content.bytes.length,
    createdAt: intent.createdAt,
    updatedAt: intent.updatedAt,
    etag: stored.etag,
  };
  putHead(sql, head, content.bytes);
  return { receipt, head };
}

function commitDelete(dir: Directory, id: number, intent: Intent, stored: StoredInR2): Receipt {
  dir.sql.exec("DELETE FROM heads WHERE id = ?", intent.memoryId);
  return commitVersion(dir, id, intent, "deleted", undefined, stored);
}

/** The version, and the intent's end: what R2 has is known, and what it lacks is in the outbox. */
function commitVersion(
  dir: Directory,
  id: number,
  intent: Intent,
  operation: Receipt["operation"],
  made: Content | undefined,
  { pending }: StoredInR2,
): Receipt {
  const { sql } = dir;
  const { path, memoryId, versionId, at } = intent;
  const actor = JSON.parse(intent.actor);
  const content = made && { sha256: made.sha256, size: made.bytes.length };
  const n = addVersion(sql, { id: versionId, memoryId, operation, path, content, actor, at });
  dropIntent(sql, id);
  for (const known of [path, intent.from]) {
    if (known !== undefined) sql.exec("DELETE FROM outbox WHERE path = ?", known);
  }
  for (const [late, etag] of pending) {
    sql.exec("INSERT OR REPLACE INTO outbox (path, etag, tries) VALUES (?, ?, 0)", late, etag);
  }
  if (pending.size > 0) dir.later();
  return { path, operation, memoryId, versionId, n };
}

/** When a memory that comes back was first made. */
function firstTime(sql: SqlStorage, memoryId: string | undefined): number | undefined {
  if (memoryId === undefined) return undefined;
  const rows = sql.exec<{ at: number }>(
    "SELECT at FROM versions WHERE memory_id = ? ORDER BY n LIMIT 1",
    memoryId,
  );
  return rows.toArray()[0]?.at;
}

/** What R2 has at a path as far as we know; null for nothing. */
function knownEtag(sql: SqlStorage, path: string): string | null {
  const pending = pendingEtag(sql, path);
  return pending === undefined ? (headAt(sql, path)?.etag ?? null) : pending;
}
