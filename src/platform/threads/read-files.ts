// What the model has read: the etag that it knows of each path. The table is made in `schema.ts`.

import { canonicalPath } from "../../shared/safety/path.ts";

/**
 * The model is not shown these files any more, or, without a list, all but those that `stays` names:
 * it has to read them again before it writes over them. Within a transaction.
 */
export function forgetSeen(
  sql: SqlStorage,
  paths: readonly string[] | undefined,
  stays: (path: string) => boolean = () => false,
): void {
  const rows = sql.exec<{ path: string }>("SELECT path FROM seen").toArray();
  const gone = (paths ?? rows.map(({ path }) => path)).filter((path) => !stays(path));
  for (const path of gone) sql.exec("DELETE FROM seen WHERE path = ?", path);
}

/** The canonical forms of paths as they were written; what is none is left out. */
export function canonicalPaths(paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    const found = canonicalPath(path);
    return found.status === "ok" ? [found.path] : [];
  });
}
