// A database that grows too large gives contents away that only its history refers to: to R2, the
// oldest first, a batch a run of the alarm. First R2 has it, then the row gives it up: a crash between
// the two repeats the first. The name is the sha256, so a second put is the same as the first.

import { errorName, log } from "../../../src/platform/log.ts";
import { sideBySide } from "../../../src/shared/files/side-by-side.ts";
import { SPILL_BATCH } from "../../../src/shared/limits/memory.ts";
import { contentHere } from "./contents.ts";
import type { Directory } from "./directory.ts";

/** What may move: no memory has it, and no redaction is about to delete it in R2. */
const MOVABLE = `bytes IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM heads WHERE heads.sha256 = contents.sha256)
  AND NOT EXISTS (SELECT 1 FROM erasures WHERE erasures.sha256 = contents.sha256)`;

/** Whether contents are to move; the heads alone may be as large as that. */
export function isSpillDue({ sql, sizes }: Directory): boolean {
  return sql.databaseSize > sizes.spill && movable(sql, 1).length > 0;
}

/** Moves one batch; true when nothing is left to move for now. */
export async function spill(dir: Directory): Promise<boolean> {
  if (dir.sql.databaseSize <= dir.sizes.spill) return true;
  const moved: string[] = [];
  await sideBySide(movable(dir.sql, SPILL_BATCH), async (sha256) => {
    const bytes = contentHere(dir.sql, sha256);
    if (!bytes) return;
    try {
      await dir.spilled.put(sha256, bytes);
      moved.push(sha256);
    } catch (error) {
      log("memdir.spill_pending", { error: errorName(error) });
    }
  });
  dir.commit(() => {
    for (const sha256 of moved) {
      dir.sql.exec(`UPDATE contents SET bytes = NULL WHERE sha256 = ? AND ${MOVABLE}`, sha256);
    }
  });
  return !isSpillDue(dir);
}

function movable(sql: SqlStorage, limit: number): string[] {
  const rows = sql.exec<{ sha256: string }>(
    `SELECT sha256 FROM contents WHERE ${MOVABLE} ORDER BY n LIMIT ?`,
    limit,
  );
  return [...rows].map((row) => row.sha256);
}
