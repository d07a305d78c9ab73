// What the model of a thread has read: the etag that it knows of each path.

import type { ToolNote } from "../../shared/loop/tool.ts";
import { canonicalPath } from "../../shared/safety/path.ts";
import type { Thread } from "./thread.ts";

/** Path to the etag that the model knows. */
export function readFiles({ sql, id }: Thread): Map<string, string> {
  const rows = sql.exec<{ path: string; etag: string }>(
    "SELECT path, etag FROM read_files WHERE thread = ?",
    id,
  );
  return new Map([...rows].map(({ path, etag }) => [path, etag]));
}

/** The same for one path at a time, always as it is on disk. */
export function knownFiles({ sql, id }: Thread): { get(path: string): string | undefined } {
  return {
    get(path) {
      const [row] = sql
        .exec<{ etag: string }>(
          "SELECT etag FROM read_files WHERE thread = ? AND path = ?",
          id,
          path,
        )
        .toArray();
      return row?.etag;
    },
  };
}

/**
 * Keeps which content of a file the model knows. A change alone teaches it nothing: an Edit may have
 * been made beside lines of others that it never saw, and a Write after it would undo them. Within a
 * transaction.
 */
export function noteRead({ sql, id }: Thread, notes: readonly ToolNote[]): void {
  for (const note of notes) {
    if (note.type === "seen") {
      sql.exec(
        "INSERT OR REPLACE INTO read_files (thread, path, etag) VALUES (?, ?, ?)",
        id,
        note.path,
        note.etag,
      );
    } else if (note.operation === "deleted") {
      sql.exec("DELETE FROM read_files WHERE thread = ? AND path = ?", id, note.path);
    }
  }
}

/**
 * The model is not shown these files any more, or, without a list, all but those that `stays` names:
 * it has to read them again before it writes over them. Within a transaction.
 */
export function forgetRead(
  thread: Thread,
  paths: readonly string[] | undefined,
  stays: (path: string) => boolean = () => false,
): void {
  const gone = (paths ?? [...readFiles(thread).keys()]).filter((path) => !stays(path));
  for (const path of gone) {
    thread.sql.exec("DELETE FROM read_files WHERE thread = ? AND path = ?", thread.id, path);
  }
}

/** A thread that goes on from another knows what that one knows now. Within a transaction. */
export function inheritRead({ sql, id }: Thread, from: Thread): void {
  sql.exec(
    `INSERT OR REPLACE INTO read_files (thread, path, etag)
     SELECT ?, path, etag FROM read_files WHERE thread = ?`,
    id,
    from.id,
  );
}

/** The canonical forms of paths as they were written; what is none is left out. */
export function canonicalPaths(paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    const found = canonicalPath(path);
    return found.status === "ok" ? [found.path] : [];
  });
}
