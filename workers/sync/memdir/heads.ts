import type { MemoryHead, ScannedMemory } from "../../../src/platform/objects/memdir-rpc.ts";
import { INDEX_FILE } from "../../../src/shared/memdir/entrypoint.ts";
import { sameKeys } from "../../../src/shared/memdir/same.ts";
import { memoryType } from "../../../src/shared/memdir/types.ts";
import { entryOf } from "./parsed.ts";

export interface Head extends MemoryHead {
  /** Number of its version. */
  n: number;
  /** Number of its content. */
  content: number;
  /** The etag that R2 has for this very content; null while R2 does not have it. */
  etag: string | null;
}

type Row = {
  path: string;
  id: string;
  n: number;
  version: string;
  content: number;
  sha256: string;
  size: number;
  created_at: number;
  updated_at: number;
  etag: string | null;
  type: string | null;
  name: string | null;
  description: string | null;
};

/** The character after "/": it ends a folder. */
const AFTER_SLASH = "0";

/** The memory at a path. */
export function headAt(sql: SqlStorage, path: string): Head | undefined {
  return one(sql.exec<Row>("SELECT * FROM heads WHERE path = ?", path));
}

/** The memory with an id. */
export function headById(sql: SqlStorage, id: string): Head | undefined {
  // Its last version is the head's, and cannot be redacted as long as it is.
  const rows = sql.exec<Row>(
    `SELECT * FROM heads WHERE id = ?
       AND path = (SELECT path FROM versions WHERE memory_id = ? ORDER BY n DESC LIMIT 1)`,
    id,
    id,
  );
  return one(rows);
}

/** A memory with this very content now. */
export function headWith(sql: SqlStorage, sha256: string): Head | undefined {
  return one(sql.exec<Row>("SELECT * FROM heads WHERE sha256 = ? LIMIT 1", sha256));
}

/** Memories below a folder, in order of paths. */
export function listHeads(
  sql: SqlStorage,
  query: { prefix: string; after?: string | undefined; limit: number },
): Head[] {
  const { after = "", prefix, limit } = query;
  const rows =
    prefix === ""
      ? sql.exec<Row>("SELECT * FROM heads WHERE path > ? ORDER BY path LIMIT ?", after, limit)
      : sql.exec<Row>(
          "SELECT * FROM heads WHERE path > ? AND path >= ? AND path < ? ORDER BY path LIMIT ?",
          after,
          prefix,
          `${prefix.slice(0, -1)}${AFTER_SLASH}`,
          limit,
        );
  return [...rows].map(headOf);
}

/** All memories but the index, newest first, at most so many. */
export function scanHeads(sql: SqlStorage, limit: number): ScannedMemory[] {
  const rows = sql.exec<Row>(
    `SELECT * FROM heads WHERE path <> ? AND path LIKE '%.md'
     ORDER BY updated_at DESC, path LIMIT ?`,
    INDEX_FILE,
    limit,
  );
  return [...rows].map((row) => {
    return {
      ...publicHead(headOf(row)),
      type: memoryType(row.type),
      name: row.name ?? undefined,
      description: row.description ?? undefined,
    };
  });
}

/** Takes the memory at a path out of what there is. */
export function dropHead(sql: SqlStorage, path: string): void {
  sql.exec("DELETE FROM heads WHERE path = ?", path);
}

/** How many memories there are. */
export function countHeads(sql: SqlStorage): number {
  return sql.exec<{ n: number }>("SELECT count(*) AS n FROM heads").one().n;
}

/** Another memory at, above or below a path: a file cannot be a folder too. */
export function overlapping(sql: SqlStorage, path: string, except = ""): Head | undefined {
  const at = headAt(sql, path);
  return at && at.id !== except ? at : aroundPath(sql, path, except);
}

/** Another memory above or below a path. */
export function aroundPath(sql: SqlStorage, path: string, except = ""): Head | undefined {
  for (let end = path.indexOf("/"); end !== -1; end = path.indexOf("/", end + 1)) {
    const above = headAt(sql, path.slice(0, end));
    if (above && above.id !== except) return above;
  }
  const rows = sql.exec<Row>(
    "SELECT * FROM heads WHERE path > ? AND path < ? AND id <> ? ORDER BY path LIMIT 1",
    `${path}/`,
    `${path}${AFTER_SLASH}`,
    except,
  );
  return one(rows);
}

/** Stores a head in place of the one at its path; reads what a scan and a lookup need from the bytes. */
export function putHead(sql: SqlStorage, head: Head, bytes: Uint8Array): void {
  const entry = entryOf(bytes);
  const { type, name, description } = entry;
  const { about, said } = sameKeys(entry);
  sql.exec(
    `INSERT OR REPLACE INTO heads (path, id, n, version, content, sha256, size, created_at,
       updated_at, etag, type, name, description, about, said)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    head.path,
    head.id,
    head.n,
    head.versionId,
    head.content,
    head.sha256,
    head.size,
    head.createdAt,
    head.updatedAt,
    head.etag,
    type ?? null,
    name?.toWellFormed() ?? null,
    description?.toWellFormed() ?? null,
    about,
    said,
  );
}

function one(rows: SqlStorageCursor<Row>): Head | undefined {
  const [row] = rows.toArray();
  return row && headOf(row);
}

function headOf(row: Row): Head {
  return {
    id: row.id,
    path: row.path,
    versionId: row.version,
    sha256: row.sha256,
    size: row.size,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    n: row.n,
    content: row.content,
    etag: row.etag,
  };
}

/** A head as others may see it. */
export function publicHead(head: Head): MemoryHead {
  const { n: _n, content: _content, etag: _etag, ...rest } = head;
  return rest;
}
