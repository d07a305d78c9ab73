// What is lost for good: memories that were deleted, contents that were redacted. Sessions that hold
// copies ask for it, each from where it asked last.

import * as z from "zod";
import type { LossCursor, Losses } from "../../../src/platform/objects/memdir-rpc.ts";
import { sha256Hex } from "../../../src/shared/files/digest.ts";
import { headAt } from "./heads.ts";
import { actorOf } from "./versions.ts";

/**
 * One of the tables of a directory: a row a redaction, with the SHA-256 of each path that had its content
 * (JSON). A redaction takes the paths out too; who has a copy knows its path.
 */
export const REDACTIONS_TABLE =
  "CREATE TABLE redactions (n INTEGER PRIMARY KEY, paths TEXT NOT NULL)";

const pathsSchema = z.array(z.string());

/** The SHA-256 of each path that any version with this content ever had, and of each place it left. */
export async function pathDigests(sql: SqlStorage, sha256: string): Promise<string[]> {
  const rows = sql.exec<{ path: string | null }>(
    `SELECT DISTINCT path FROM versions WHERE memory_id IN
       (SELECT memory_id FROM versions WHERE sha256 = ?) AND path IS NOT NULL`,
    sha256,
  );
  const paths = [...rows].flatMap(({ path }) => (path === null ? [] : [path]));
  return Promise.all(paths.map(pathDigest));
}

export function pathDigest(path: string): Promise<string> {
  return sha256Hex(new TextEncoder().encode(path));
}

/** Within the transaction of a redaction. */
export function rememberRedaction(sql: SqlStorage, paths: readonly string[]): void {
  sql.exec("INSERT INTO redactions (paths) VALUES (?)", JSON.stringify(paths));
}

/** What was lost after a cursor; without one nothing, and the cursor to ask from. */
export function lossesSince(sql: SqlStorage, after: LossCursor | undefined): Losses {
  const cursor = {
    version: newest(sql, "versions"),
    redaction: newest(sql, "redactions"),
  };
  if (!after) return { cursor, deleted: [], redacted: [] };
  const deleted = sql
    .exec<{ gone: string; memoryId: string; actor: string }>(
      `SELECT gone, memory_id AS memoryId, actor FROM versions
       WHERE n > ? AND operation = 'deleted' AND gone IS NOT NULL ORDER BY n`,
      after.version,
    )
    .toArray()
    // One that was made anew is not lost.
    .filter(({ gone }) => !headAt(sql, gone))
    .map(({ gone, memoryId, actor }) => {
      const by = actorOf(actor);
      return { path: gone, memoryId, sessionId: by.type === "session" ? by.sessionId : null };
    });
  const redacted = sql
    .exec<{ paths: string }>("SELECT paths FROM redactions WHERE n > ? ORDER BY n", after.redaction)
    .toArray()
    .flatMap(({ paths }) => pathsSchema.parse(JSON.parse(paths)));
  return { cursor, deleted, redacted };
}

function newest(sql: SqlStorage, table: "versions" | "redactions"): number {
  return sql.exec<{ n: number | null }>(`SELECT max(n) AS n FROM ${table}`).one().n ?? 0;
}
