// The files that the model of a thread knows, each with the etag of the known content.

import type { ToolNote } from "../../shared/loop/tool.ts";
import { canonicalPath } from "../../shared/safety/path.ts";
import type { Thread } from "./thread.ts";

/** Etags by path. */
export function readFiles({ sql, id }: Thread): Map<string, string> {
  const rows = sql.exec<{ path: string; etag: string }>(
    "SELECT path, etag FROM read_files WHERE thread = ?",
    id,
  );
  return new Map([...rows].map(({ path, etag }) => [path, etag]));
}

/** The same for one path at a time; each `get` reads the row. */
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

/** The model knows this content of a file. Within a transaction. */
export function keepRead({ sql, id }: Thread, path: string, etag: string): void {
  sql.exec(
    "INSERT OR REPLACE INTO read_files (thread, path, etag) VALUES (?, ?, ?)",
    id,
    path,
    etag,
  );
}

/**
 * Stores which content of a file the model knows, by the notes of a result. After a change alone the
 * model does not know the content: an Edit leaves lines of others that the model has not seen, and a
 * later Write would undo them. Within a transaction.
 */
export function noteRead(thread: Thread, notes: readonly ToolNote[]): void {
  const { sql, id } = thread;
  for (const note of notes) {
    if (note.type === "seen") keepRead(thread, note.path, note.etag);
    else if (note.operation === "deleted") {
      sql.exec("DELETE FROM read_files WHERE thread = ? AND path = ?", id, note.path);
    }
  }
}

/**
 * The model no longer sees these files (all, if `paths` is undefined) and must read them again before it
 * writes over them. `stays` names exceptions. Within a transaction.
 */
export function forgetRead(
  thread: Thread,
  paths: readonly string[] | undefined,
  stays: (path: string) => boolean = () => false,
): void {
  const forgotten = (paths ?? [...readFiles(thread).keys()]).filter((path) => !stays(path));
  for (const path of forgotten) {
    thread.sql.exec("DELETE FROM read_files WHERE thread = ? AND path = ?", thread.id, path);
  }
}

/** The canonical forms of paths, without those that are not valid. */
export function canonicalPaths(paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    const found = canonicalPath(path);
    return found.status === "ok" ? [found.path] : [];
  });
}
