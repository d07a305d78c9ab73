// Tool results that were too large for the conversation, whole: rows of the session, which go with it.
// The agent reads them as files.

import { MemdirError } from "../../../src/shared/errors.ts";
import { checkListQuery } from "../../../src/shared/files/list-query.ts";
import type { Mount } from "../../../src/shared/files/mounts.ts";
import type { FileEntry, StoredFile } from "../../../src/shared/files/store.ts";
import { ROW_BYTES } from "../../../src/shared/limits/turn.ts";
import { KEPT_DIRECTORY } from "../../../src/shared/loop/stored-result.ts";
import { byteLength } from "../../../src/shared/text/bytes.ts";

/** One of the tables of a session. */
export const KEPT_TABLE = `CREATE TABLE IF NOT EXISTS kept_results (
    path TEXT PRIMARY KEY, at INTEGER NOT NULL, size INTEGER NOT NULL, etag TEXT NOT NULL, body TEXT NOT NULL)`;

/** Keeps a result under the path that its beginning names. Within the transaction of that. */
export function keepResult(sql: SqlStorage, path: string, whole: string, now: number): void {
  sql.exec(
    "INSERT OR REPLACE INTO kept_results (path, at, size, etag, body) VALUES (?, ?, ?, ?, ?)",
    path.slice(KEPT_DIRECTORY.length + 1),
    now,
    byteLength(whole),
    // A result is written once: its place and time tell it from every other.
    `${now}-${path.length}-${whole.length}`,
    whole,
  );
}

type Row = { path: string; at: number; size: number; etag: string };

/** The kept results as files that are read and never written. */
export function keptMount(sql: SqlStorage): Mount {
  const columns = "path, at, size, etag";
  const entry = ({ path, at, size, etag }: Row): FileEntry => ({ path, size, etag, modified: at });
  const readOnly = async (): Promise<never> => {
    throw new MemdirError("forbidden", `${KEPT_DIRECTORY} holds tool results, which are only read`);
  };
  return {
    at: KEPT_DIRECTORY,
    rights: "read",
    maxFileBytes: ROW_BYTES,
    label: "results of earlier tool calls",
    store: {
      async get(path): Promise<StoredFile | undefined> {
        const [row] = sql
          .exec<Row & { body: string }>(
            `SELECT ${columns}, body FROM kept_results WHERE path = ?`,
            path,
          )
          .toArray();
        return row && { ...entry(row), bytes: new TextEncoder().encode(row.body) };
      },
      async head(path) {
        const [row] = sql
          .exec<Row>(`SELECT ${columns} FROM kept_results WHERE path = ?`, path)
          .toArray();
        return row && entry(row);
      },
      async list(query) {
        const { prefix, after, limit } = checkListQuery(query);
        const rows = sql
          .exec<Row>(
            `SELECT ${columns} FROM kept_results
             WHERE substr(path, 1, length(?1)) = ?1 AND path > ?2 ORDER BY path LIMIT ?3`,
            prefix,
            after,
            limit + 1,
          )
          .toArray();
        const entries = rows.slice(0, limit).map(entry);
        const last = rows.length > limit ? entries.at(-1) : undefined;
        return last ? { entries, next: last.path } : { entries };
      },
      put: readOnly,
      delete: readOnly,
    },
  };
}
