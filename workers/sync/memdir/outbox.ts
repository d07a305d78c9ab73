// Paths whose newest state R2 does not have yet. What this object acknowledged holds: R2 follows, with
// the newest content only, and what somebody else put there meanwhile becomes a version.

import { newId } from "../../../src/platform/ids.ts";
import { errorName, log } from "../../../src/platform/log.ts";
import { sha256Hex } from "../../../src/shared/files/digest.ts";
import { deleteInR2, putInR2 } from "./conditional-r2.ts";
import type { Content } from "./contents.ts";
import { addContent, bytesOf } from "./contents.ts";
import type { Directory } from "./directory.ts";
import type { Head } from "./heads.ts";
import { headAt, putHead } from "./heads.ts";
import { addVersion, versionById } from "./versions.ts";

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
      log("memdir.outbox_pending", { error: errorName(error) });
    }
  }
  return !left;
}

/** Brings one path up to date in R2; false where that needs another attempt. */
export async function syncPath(
  dir: Directory,
  path: string,
  etag: string | null,
): Promise<boolean> {
  const head = headAt(dir.sql, path);
  if (!head) {
    const gone = await clearLeftover(dir, path, etag);
    if (gone) dir.commit(() => leaveOutbox(dir.sql, path));
    return gone;
  }
  const bytes = bytesOf(dir, head);
  const put = await putInR2(dir, path, bytes, head.sha256, etag);
  if (put === "not_now") return false;
  if (put === "changed_outside") {
    // What we acknowledged holds; what somebody put there meanwhile becomes a version before it.
    const found = await dir.files.get(path);
    const foreign = found && (await sha256Hex(found.bytes));
    dir.commit(() => {
      if (found && foreign && !wasOurs(dir.sql, path, foreign)) {
        overrule(dir, head, bytes, { bytes: found.bytes, sha256: foreign });
      }
      enterOutbox(dir.sql, path, found?.etag ?? null);
    });
    return false;
  }
  dir.commit(() => {
    dir.sql.exec("UPDATE heads SET etag = ? WHERE path = ? AND n = ?", put, path, head.n);
    leaveOutbox(dir.sql, path);
  });
  return true;
}

/** The foreign content becomes a version, and ours the one after it. */
function overrule(dir: Directory, head: Head, bytes: Uint8Array, foreign: Content): void {
  const { sql } = dir;
  const ours = versionById(sql, head.versionId);
  const shared = { memoryId: head.id, operation: "modified" as const, path: head.path };
  const at = dir.now();
  const external = { type: "external" as const };
  const theirs = addContent(sql, foreign);
  addVersion(sql, { ...shared, id: newId("memver"), content: theirs, actor: external, at });
  const versionId = newId("memver");
  const content = { n: head.content, sha256: head.sha256, bytes };
  const actor = ours?.actor ?? external;
  const n = addVersion(sql, { ...shared, id: versionId, content, actor, at });
  putHead(sql, { ...head, n, versionId }, bytes);
}

/** Takes away what R2 may still have of a deleted memory; what somebody else put there stays. */
async function clearLeftover(dir: Directory, path: string, etag: string | null): Promise<boolean> {
  const found = await dir.files.get(path);
  if (!found) return true;
  if (found.etag !== etag && !wasOurs(dir.sql, path, await sha256Hex(found.bytes))) return true;
  return (await deleteInR2(dir, path, found.etag)) !== "not_now";
}

/** An earlier content of ours that reached R2 although its put seemed to fail. */
function wasOurs(sql: SqlStorage, path: string, sha256: string): boolean {
  const rows = sql.exec(
    `SELECT 1 FROM versions WHERE sha256 = ? AND path = ?
     UNION ALL SELECT 1 FROM outbox AS o, json_each(o.erased) AS e WHERE o.path = ? AND e.value = ?
     LIMIT 1`,
    sha256,
    path,
    path,
    sha256,
  );
  return rows.toArray().length > 0;
}

/** R2 does not have this path as it is to be; what it has there has this etag, null for nothing. */
export function enterOutbox(sql: SqlStorage, path: string, etag: string | null): void {
  sql.exec(
    `INSERT INTO outbox (path, etag) VALUES (?, ?)
     ON CONFLICT (path) DO UPDATE SET etag = excluded.etag`,
    path,
    etag,
  );
}

/** Before the versions forget a content: R2 may still have it at paths that are in the outbox. */
export function rememberErased(sql: SqlStorage, sha256: string): void {
  sql.exec(
    `UPDATE outbox SET erased = json_insert(erased, '$[#]', ?)
     WHERE path IN (SELECT path FROM versions WHERE sha256 = ?)`,
    sha256,
    sha256,
  );
}

/** R2 has this path as it is to be. */
export function leaveOutbox(sql: SqlStorage, path: string): void {
  sql.exec("DELETE FROM outbox WHERE path = ?", path);
}

/** What R2 has at a path that is in the outbox, null for nothing; undefined for any other path. */
export function pendingEtag(sql: SqlStorage, path: string): string | null | undefined {
  return sql
    .exec<{ etag: string | null }>("SELECT etag FROM outbox WHERE path = ?", path)
    .toArray()[0]?.etag;
}
