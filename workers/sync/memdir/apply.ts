// How a change reaches R2 and the index. Three steps, in this order: the intent is put on disk, R2
// is written on the condition that it has what we know, and one transaction makes it a version and
// the new head. A crash between them is finished by `recover`. Where R2 does not take it now, the
// change is committed all the same and the path goes into the outbox: this object holds the
// content and answers every read; R2 follows, with the newest content only.

import * as z from "zod";
import { newId } from "../../../src/platform/ids.ts";
import { errorName, log } from "../../../src/platform/log.ts";
import type { Actor, Receipt } from "../../../src/platform/memdir-rpc.ts";
import { sha256Hex } from "../../../src/shared/files/digest.ts";
import type { Directory } from "./directory.ts";
import type { Head } from "./heads.ts";
import { headAt, headById, putHead } from "./heads.ts";
import { addVersion, contentOf, versionById } from "./versions.ts";

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
  /** When the content was last changed; a rename does not change it. */
  updatedAt: z.number(),
  actor: z.string(),
  /** What R2 has at `path` as far as we know. */
  etag: z.string().nullable(),
  fromEtag: z.string().nullable(),
});
type Intent = z.infer<typeof intentSchema>;

export type Applied =
  | { status: "applied"; receipt: Receipt; head: Head | undefined }
  /** R2 has something that we do not know: it has to be taken in first. */
  | { status: "changed_outside" };

export interface PutChange {
  path: string;
  bytes: Uint8Array;
  sha256: string;
  /** The memory that is changed; absent for a new one. */
  before: Head | undefined;
  /** A memory id to come back under. */
  memoryId?: string | undefined;
  updatedAt?: number;
  actor: Actor;
}

/** Writes content, and moves the memory where the path is another. */
export async function applyPut(dir: Directory, change: PutChange): Promise<Applied> {
  const { before, path } = change;
  const moved = before !== undefined && before.path !== path;
  const at = dir.now();
  const sameContent = before?.sha256 === change.sha256;
  const intent: Intent = {
    op: "put",
    path,
    ...(moved ? { from: before.path } : {}),
    memoryId: before?.id ?? change.memoryId ?? newId("mem"),
    versionId: newId("memver"),
    createdAt: before?.createdAt ?? firstTime(dir.sql, change.memoryId) ?? at,
    at,
    updatedAt: change.updatedAt ?? (sameContent ? before.updatedAt : at),
    actor: JSON.stringify(change.actor),
    etag: knownEtag(dir.sql, path),
    fromEtag: moved ? knownEtag(dir.sql, before.path) : null,
  };
  return carryOut(dir, intent, change.bytes, change.sha256);
}

/** Deletes a memory; its versions stay. */
export async function applyDelete(dir: Directory, before: Head, actor: Actor): Promise<Applied> {
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
  };
  return carryOut(dir, intent, undefined, "");
}

/** Finishes what a crash left between intent and commit. */
export async function recover(dir: Directory): Promise<void> {
  const rows = dir.sql
    .exec<{ id: number; body: string; content: ArrayBuffer | null }>(
      "SELECT id, body, content FROM intents ORDER BY id",
    )
    .toArray();
  for (const { id, body, content } of rows) {
    const parsed = intentSchema.safeParse(JSON.parse(body));
    if (!parsed.success) {
      dir.commit(() => dir.sql.exec("DELETE FROM intents WHERE id = ?", id));
      continue;
    }
    const bytes = content ? new Uint8Array(content) : undefined;
    await finish(dir, id, parsed.data, bytes, bytes ? await sha256Hex(bytes) : "");
  }
}

/** Brings R2 up to date; true when nothing is left to do. */
export async function emptyOutbox(dir: Directory): Promise<boolean> {
  const rows = dir.sql
    .exec<{ path: string; etag: string | null }>("SELECT path, etag FROM outbox")
    .toArray();
  let left = false;
  for (const { path, etag } of rows) {
    try {
      const done = await syncPath(dir, path, etag);
      if (!done) left = true;
    } catch (error) {
      left = true;
      log("memdir.outbox_waits", { error: errorName(error) });
      dir.sql.exec("UPDATE outbox SET tries = tries + 1 WHERE path = ?", path);
    }
  }
  return !left;
}

async function carryOut(
  dir: Directory,
  intent: Intent,
  bytes: Uint8Array | undefined,
  sha256: string,
): Promise<Applied> {
  const { id } = dir.commit(() =>
    dir.sql
      .exec<{ id: number }>(
        "INSERT INTO intents (body, content) VALUES (?, ?) RETURNING id",
        JSON.stringify(intent),
        bytes ?? null,
      )
      .one(),
  );
  return finish(dir, id, intent, bytes, sha256);
}

async function finish(
  dir: Directory,
  id: number,
  intent: Intent,
  bytes: Uint8Array | undefined,
  sha256: string,
): Promise<Applied> {
  const stored = await storeInR2(dir, intent, bytes, sha256);
  if (stored === "changed_outside") {
    dir.commit(() => dir.sql.exec("DELETE FROM intents WHERE id = ?", id));
    return { status: "changed_outside" };
  }
  return dir.commit(() => commitIntent(dir, id, intent, bytes, sha256, stored));
}

interface Stored {
  /** The etag of the new content; null where R2 does not have it yet. */
  etag: string | null;
  /** Paths that R2 does not have as they are to be, with what it has. */
  behind: Map<string, string | null>;
}

async function storeInR2(
  dir: Directory,
  intent: Intent,
  bytes: Uint8Array | undefined,
  sha256: string,
): Promise<Stored | "changed_outside"> {
  const behind = new Map<string, string | null>();
  let etag: string | null = null;
  if (bytes) {
    const put = await tryPut(dir, intent.path, bytes, sha256, intent.etag);
    if (put === "changed_outside") return put;
    if (put === "not_now") behind.set(intent.path, intent.etag);
    else etag = put;
  }
  const gone = intent.op === "delete" ? intent.path : intent.from;
  const goneEtag = intent.op === "delete" ? intent.etag : intent.fromEtag;
  if (gone !== undefined && goneEtag === null && inOutbox(dir.sql, gone)) behind.set(gone, null);
  if (gone !== undefined && goneEtag !== null) {
    const removed = await tryDelete(dir, gone, goneEtag);
    // What somebody put at the old place of a moved memory is found as a memory of its own.
    if (removed === "changed_outside" && intent.op === "delete") return removed;
    if (removed === "not_now") behind.set(gone, goneEtag);
  }
  return { etag, behind };
}

function commitIntent(
  dir: Directory,
  id: number,
  intent: Intent,
  bytes: Uint8Array | undefined,
  sha256: string,
  stored: Stored,
): Applied {
  const { sql } = dir;
  const existed = headById(sql, intent.memoryId) !== undefined;
  const operation = !bytes ? "deleted" : existed ? "modified" : "created";
  const n = addVersion(sql, {
    id: intent.versionId,
    memoryId: intent.memoryId,
    operation,
    path: intent.path,
    ...(bytes ? { content: { bytes, sha256 } } : {}),
    actor: JSON.parse(intent.actor),
    at: intent.at,
  });
  let head: Head | undefined;
  if (bytes) {
    head = {
      id: intent.memoryId,
      path: intent.path,
      n,
      versionId: intent.versionId,
      sha256,
      size: bytes.length,
      createdAt: intent.createdAt,
      updatedAt: intent.updatedAt,
      etag: stored.etag,
    };
    putHead(sql, head, bytes);
  } else {
    sql.exec("DELETE FROM heads WHERE id = ?", intent.memoryId);
  }
  sql.exec("DELETE FROM intents WHERE id = ?", id);
  for (const path of [intent.path, intent.from]) {
    if (path !== undefined) sql.exec("DELETE FROM outbox WHERE path = ?", path);
  }
  for (const [path, etag] of stored.behind) {
    sql.exec("INSERT OR REPLACE INTO outbox (path, etag, tries) VALUES (?, ?, 0)", path, etag);
  }
  if (stored.behind.size > 0) dir.later();
  const receipt: Receipt = {
    path: intent.path,
    operation,
    memoryId: intent.memoryId,
    versionId: intent.versionId,
    n,
  };
  return { status: "applied", receipt, head };
}

/** The etag of what is in R2 now; a repeated put of the same content counts as made. */
async function tryPut(
  dir: Directory,
  path: string,
  bytes: Uint8Array,
  sha256: string,
  etag: string | null,
): Promise<string | "changed_outside" | "not_now"> {
  try {
    const condition = etag === null ? { ifAbsent: true as const } : { ifMatch: etag };
    const put = await dir.files.put(path, bytes, condition);
    if (put.status === "written") return put.entry.etag;
    const found = await dir.files.get(path);
    if (found && (await sha256Hex(found.bytes)) === sha256) return found.etag;
    return "changed_outside";
  } catch (error) {
    log("memdir.put_waits", { error: errorName(error) });
    return "not_now";
  }
}

async function tryDelete(
  dir: Directory,
  path: string,
  etag: string,
): Promise<"deleted" | "changed_outside" | "not_now"> {
  try {
    const { status } = await dir.files.delete(path, { ifMatch: etag });
    return status === "conflict" ? "changed_outside" : "deleted";
  } catch (error) {
    log("memdir.delete_waits", { error: errorName(error) });
    return "not_now";
  }
}

/** Brings one path up to date in R2; false where it has to be tried again. */
export async function syncPath(
  dir: Directory,
  path: string,
  etag: string | null,
): Promise<boolean> {
  const head = headAt(dir.sql, path);
  if (!head) {
    const gone = await clearLeftover(dir, path, etag);
    if (gone) dir.commit(() => dir.sql.exec("DELETE FROM outbox WHERE path = ?", path));
    return gone;
  }
  const bytes = contentOf(dir.sql, head.n);
  if (!bytes) return true;
  const put = await tryPut(dir, path, bytes, head.sha256, etag);
  if (put === "not_now") return false;
  if (put === "changed_outside") {
    // What we acknowledged holds; what was put there meanwhile is kept as a version before it.
    const found = await dir.files.get(path);
    const foreign = found && (await sha256Hex(found.bytes));
    dir.commit(() => {
      if (found && foreign && !wasOurs(dir.sql, head.id, foreign)) {
        overrule(dir, head, bytes, { bytes: found.bytes, sha256: foreign });
      }
      dir.sql.exec("UPDATE outbox SET etag = ? WHERE path = ?", found?.etag ?? null, path);
    });
    return false;
  }
  dir.commit(() => {
    dir.sql.exec("UPDATE heads SET etag = ? WHERE path = ? AND n = ?", put, path, head.n);
    dir.sql.exec("DELETE FROM outbox WHERE path = ?", path);
  });
  return true;
}

/** The foreign content becomes a version, and ours the one behind it. */
function overrule(
  dir: Directory,
  head: Head,
  bytes: Uint8Array,
  foreign: { bytes: Uint8Array; sha256: string },
): void {
  const { sql } = dir;
  const ours = versionById(sql, head.versionId);
  const shared = { memoryId: head.id, operation: "modified" as const, path: head.path };
  const at = dir.now();
  const external = { type: "external" as const };
  addVersion(sql, { ...shared, id: newId("memver"), content: foreign, actor: external, at });
  const versionId = newId("memver");
  const content = { bytes, sha256: head.sha256 };
  const actor = ours?.actor ?? external;
  const n = addVersion(sql, { ...shared, id: versionId, content, actor, at });
  putHead(sql, { ...head, n, versionId }, bytes);
}

/** Takes away what R2 may still have of a deleted memory; what somebody else put there stays. */
async function clearLeftover(dir: Directory, path: string, etag: string | null): Promise<boolean> {
  const found = await dir.files.get(path);
  if (!found) return true;
  if (found.etag !== etag) {
    const known = dir.sql
      .exec(
        "SELECT 1 FROM versions WHERE path = ? AND sha256 = ?",
        path,
        await sha256Hex(found.bytes),
      )
      .toArray();
    if (known.length === 0) return true;
  }
  return (await tryDelete(dir, path, found.etag)) !== "not_now";
}

/** An earlier content of ours that reached R2 although its put seemed to fail. */
function wasOurs(sql: SqlStorage, memoryId: string, sha256: string): boolean {
  const rows = sql.exec(
    "SELECT 1 FROM versions WHERE memory_id = ? AND sha256 = ? LIMIT 1",
    memoryId,
    sha256,
  );
  return rows.toArray().length > 0;
}

/** When a memory that comes back was first made. */
function firstTime(sql: SqlStorage, memoryId: string | undefined): number | undefined {
  if (memoryId === undefined) return undefined;
  const rows = sql.exec<{ at: number | null }>(
    "SELECT min(at) AS at FROM versions WHERE memory_id = ?",
    memoryId,
  );
  return rows.one().at ?? undefined;
}

function inOutbox(sql: SqlStorage, path: string): boolean {
  return sql.exec("SELECT 1 FROM outbox WHERE path = ?", path).toArray().length > 0;
}

/** What R2 has at a path as far as we know; null for nothing. */
function knownEtag(sql: SqlStorage, path: string): string | null {
  const [waiting] = sql
    .exec<{ etag: string | null }>("SELECT etag FROM outbox WHERE path = ?", path)
    .toArray();
  return waiting ? waiting.etag : (headAt(sql, path)?.etag ?? null);
}
