// Whole tool results that were too large for their conversation: rows of their thread, which the agent
// reads as files.

import { MemdirError } from "../../shared/errors.ts";
import { checkListQuery } from "../../shared/files/list-query.ts";
import type { Mount } from "../../shared/files/mounts.ts";
import type { FileEntry, StoredFile } from "../../shared/files/store.ts";
import { ROW_BYTES } from "../../shared/limits/turn.ts";
import { STORED_DIRECTORY } from "../../shared/loop/stored-result.ts";
import { byteLength } from "../../shared/text/bytes.ts";
import type { Entry } from "../../shared/thread/entry.ts";
import { cutPage } from "../page.ts";
import type { Thread } from "./thread.ts";

/** Stores a whole result at the path that the cut result names. Within the same transaction. */
export function storeResult(
  { sql, id }: Thread,
  { path, content }: { path: string; content: string },
  now: number,
): void {
  sql.exec(
    `INSERT OR REPLACE INTO stored_results (path, thread, at, size, etag, body)
     VALUES (?, ?, ?, ?, ?, ?)`,
    storedName(path),
    id,
    now,
    byteLength(content),
    // A result is written once, so path and time identify it.
    `${now}-${path.length}-${content.length}`,
    content,
  );
}

/** Another text takes the place of a stored result. Within a transaction. */
export function replaceStored(sql: SqlStorage, path: string, content: string): void {
  sql.exec(
    "UPDATE stored_results SET body = ?, size = ?, etag = etag || '-replaced' WHERE path = ?",
    content,
    byteLength(content),
    storedName(path),
  );
}

/** Deletes the stored results that these entries do not name. Within a transaction. */
export function keepResultsOf({ sql, id }: Thread, entries: readonly Entry[]): void {
  const paths = entries.flatMap(({ origin }) =>
    origin.type === "results" ? origin.stored.map(({ path }) => storedName(path)) : [],
  );
  sql.exec(
    `DELETE FROM stored_results
     WHERE thread = ? AND path NOT IN (SELECT value FROM json_each(?))`,
    id,
    JSON.stringify(paths),
  );
}

/** The name below the directory of stored results. */
function storedName(path: string): string {
  return path.slice(STORED_DIRECTORY.length + 1);
}

type Row = { path: string; at: number; size: number; etag: string };

/** The stored results of all threads as read-only files. */
export function storedResultsMount(sql: SqlStorage): Mount {
  const columns = "path, at, size, etag";
  const entry = ({ path, at, size, etag }: Row): FileEntry => ({ path, size, etag, modified: at });
  const readOnly = async (): Promise<never> => {
    throw new MemdirError(
      "forbidden",
      `${STORED_DIRECTORY} holds tool results, which are only read`,
    );
  };
  return {
    at: STORED_DIRECTORY,
    rights: "read",
    maxFileBytes: ROW_BYTES,
    label: "results of earlier tool calls",
    store: {
      async get(path): Promise<StoredFile | undefined> {
        const [row] = sql
          .exec<Row & { body: string }>(
            `SELECT ${columns}, body FROM stored_results WHERE path = ?`,
            path,
          )
          .toArray();
        return row && { ...entry(row), bytes: new TextEncoder().encode(row.body) };
      },
      async head(path) {
        const [row] = sql
          .exec<Row>(`SELECT ${columns} FROM stored_results WHERE path = ?`, path)
          .toArray();
        return row && entry(row);
      },
      async list(query) {
        const { prefix, after, limit } = checkListQuery(query);
        const rows = sql
          .exec<Row>(
            `SELECT ${columns} FROM stored_results
             WHERE substr(path, 1, length(?1)) = ?1 AND path > ?2 ORDER BY path LIMIT ?3`,
            prefix,
            after,
            limit + 1,
          )
          .toArray();
        const { page, last } = cutPage(rows, limit);
        const entries = page.map(entry);
        return last ? { entries, next: last.path } : { entries };
      },
      put: readOnly,
      delete: readOnly,
    },
  };
}
