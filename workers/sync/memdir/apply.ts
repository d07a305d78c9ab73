// How a change reaches R2 and the index. Three steps, in this order: the intent is put on disk, R2
// is written on the condition that it has what we know, and one transaction makes it a version and
// the new head. A crash between them is finished by `recover`. Where R2 does not take it now, the
// change is committed all the same and the path goes into the outbox: this object holds the
// content and answers every read; R2 follows, with the newest content only.

import * as z from "zod";
import { newId } from "../../../src/platform/ids.ts";
import type { Actor, Receipt } from "../../../src/platform/objects/memdir-rpc.ts";
import { sha256Hex } from "../../../src/shared/files/digest.ts";
import type { Directory } from "./directory.ts";
import type { Head } from "./heads.ts";
import { headAt, headById, putHead } from "./heads.ts";
import { inOutbox } from "./outbox.ts";
import { tryDelete, tryPut } from "./try-r2.ts";
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

/** When a memory that comes back was first made. */
function firstTime(sql: SqlStorage, memoryId: string | undefined): number | undefined {
  if (memoryId === undefined) return undefined;
  const rows = sql.exec<{ at: number | null }>(
    "SELECT min(at) AS at FROM versions WHERE memory_id = ?",
    memoryId,
  );
  return rows.one().at ?? undefined;
}

/** What R2 has at a path as far as we know; null for nothing. */
function knownEtag(sql: SqlStorage, path: string): string | null {
  const [waiting] = sql
    .exec<{ etag: string | null }>("SELECT etag FROM outbox WHERE path = ?", path)
    .toArray();
  return waiting ? waiting.etag : (headAt(sql, path)?.etag ?? null);
}
