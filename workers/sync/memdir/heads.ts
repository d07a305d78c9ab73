import type { MemoryHead, ScannedMemory } from "../../../src/platform/objects/memdir-rpc.ts";
import { parseEntry } from "../../../src/shared/memdir/entry.ts";
import { INDEX_FILE } from "../../../src/shared/memdir/entrypoint.ts";
import { memoryType } from "../../../src/shared/memdir/types.ts";

export interface Head extends MemoryHead {
  /** Number of its version. */
  n: number;
  /** The etag that R2 has for this very content; null while R2 does not have it. */
  etag: string | null;
}

type Row = {
  path: string;
  id: string;
  n: number;
  version: string;
  sha256: string;
  size: number;
  created_at: number;
  updated_at: number;
  etag: string | null;
  type: string | null;
  name: string | null;
  description: string | null;
};

/** The memory at a path. */
export function headAt(sql: SqlStorage, path: string): Head | undefined {
  return one(sql.exec<Row>("SELECT * FROM heads WHERE path = ?", path));
}

/** The memory with an id. */
export function headById(sql: SqlStorage, id: string): Head | undefined {
  return one(sql.exec<Row>("SELECT * FROM heads WHERE id = ?", id));
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
          // "0" is the character after "/": the end of the folder.
          `${prefix.slice(0, -1)}0`,
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
    const { n: _n, etag: _etag, ...head } = headOf(row);
    return {
      ...head,
      type: memoryType(row.type),
      name: row.name ?? undefined,
      description: row.description ?? undefined,
    };
  });
}

/** How many memories there are. */
export function countHeads(sql: SqlStorage): number {
  return sql.exec<{ n: number }>("SELECT count(*) AS n FROM heads").one().n;
}

/** Another memory at, above or below a path: a file cannot be a folder too. */
export function overlapping(sql: SqlStorage, path: string, except = ""): Head | undefined {
  const parts = path.split("/");
  for (let depth = 1; depth <= parts.length; depth += 1) {
    const above = headAt(sql, parts.slice(0, depth).join("/"));
    if (above && above.id !== except) return above;
  }
  const below = listHeads(sql, { prefix: `${path}/`, limit: 2 });
  return below.find((head) => head.id !== except);
}

/** Stores a head, in place of the one with its id or path; reads what a scan needs from the bytes. */
export function putHead(sql: SqlStorage, head: Head, bytes: Uint8Array): void {
  const { type, name, description } = parseEntry(new TextDecoder().decode(bytes));
  sql.exec("DELETE FROM heads WHERE id = ?", head.id);
  sql.exec(
    `INSERT OR REPLACE INTO heads (path, id, n, version, sha256, size, created_at, updated_at,
       etag, type, name, description) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    head.path,
    head.id,
    head.n,
    head.versionId,
    head.sha256,
    head.size,
    head.createdAt,
    head.updatedAt,
    head.etag,
    type ?? null,
    name?.toWellFormed() ?? null,
    description?.toWellFormed() ?? null,
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
    etag: row.etag,
  };
}

/** A head as others may see it. */
export function publicHead(head: Head): MemoryHead {
  const { n: _n, etag: _etag, ...rest } = head;
  return rest;
}
