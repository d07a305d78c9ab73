// Another memory that says the same, found in one pass over the heads: whatever their number, contents
// are opened only where a key fits.

import { INDEX_FILE } from "../../../src/shared/memdir/entrypoint.ts";
import { sameIn, sameKeys } from "../../../src/shared/memdir/same.ts";
import { bytesOf } from "./contents.ts";
import type { Directory } from "./directory.ts";
import { headAt } from "./heads.ts";
import { entryOf } from "./parsed.ts";

/** Memories that share a key and are opened to see; more of them would be somebody's game. */
const OPENED_MOST = 8;

/** Why a new memory of this text is none, for its writer; undefined where nothing says the same. */
export function repeatOf(dir: Directory, path: string, bytes: Uint8Array): string | undefined {
  if (path === INDEX_FILE) return undefined;
  const entry = entryOf(bytes);
  const { about, said } = sameKeys(entry);
  const rows = dir.sql.exec<{ path: string }>(
    `SELECT path FROM heads WHERE path <> ? AND path LIKE '%.md' AND (about = ? OR said = ?)
     ORDER BY path LIMIT ?`,
    INDEX_FILE,
    about,
    said,
    OPENED_MOST,
  );
  for (const row of rows.toArray()) {
    const head = headAt(dir.sql, row.path);
    const same = head && sameIn(entry, entryOf(bytesOf(dir, head)));
    if (!same) continue;
    return same === "text"
      ? `${row.path} says this already, in the same words. Edit that file where something is new, else leave it`
      : `${row.path} says this already: its description is the same. Edit that file where something is new, leave it where nothing is, or describe yours so that nobody takes one for the other`;
  }
  return undefined;
}
