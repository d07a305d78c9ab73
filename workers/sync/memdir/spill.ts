// A database that grows too large gives contents away that only its history refers to: to R2, the
// oldest first, a batch a run of the alarm. First R2 has it, then the row goes: a crash between
// the two repeats the first. The name is the sha256, so a second put is the same as the first.

import { errorName, log } from "../../../src/platform/log.ts";
import { sideBySide } from "../../../src/shared/files/side-by-side.ts";
import { SPILL_BATCH } from "../../../src/shared/limits/memory.ts";
import { contentHere } from "./contents.ts";
import type { Directory, StoreSizes } from "./directory.ts";

/** What may move: no memory has it, and no redaction is about to delete it in R2. */
const MOVABLE = `n NOT IN (SELECT content FROM heads)
  AND NOT EXISTS (SELECT 1 FROM erasures WHERE erasures.sha256 = contents.sha256)`;

interface Movable {
  n: number;
  sha256: string;
}

/**
 * A save adds no more than this, in bytes: a content, its intent and its rows. A rewind or an import may
 * add more; the size at which nothing new is taken is far away, and is looked at each time.
 */
const CHANGE_MOST = 1_000_000;
/** Changes, by a store's sizes, after which it is looked at again: to ask costs as much as to write a row. */
const far = new WeakMap<StoreSizes, number>();

/** Whether contents are to move; the heads alone may be as large as that. */
export function isSpillDue({ sql, sizes }: Directory): boolean {
  const changes = far.get(sizes) ?? 0;
  if (changes > 0) {
    far.set(sizes, changes - 1);
    return false;
  }
  const left = sizes.spill - sql.databaseSize;
  far.set(sizes, Math.floor(Math.max(0, left) / CHANGE_MOST));
  return left < 0 && movable(sql, 1).length > 0;
}

/** Moves one batch; true when nothing is left to move for now. */
export async function spill(dir: Directory): Promise<boolean> {
  if (dir.sql.databaseSize <= dir.sizes.spill) return true;
  const moved: Movable[] = [];
  await sideBySide(movable(dir.sql, SPILL_BATCH), async (content) => {
    const bytes = contentHere(dir.sql, content.n);
    if (!bytes) return;
    try {
      await dir.spilled.put(content.sha256, bytes);
      moved.push(content);
    } catch (error) {
      log("memdir.spill_pending", { error: errorName(error) });
    }
  });
  dir.commit(() => {
    for (const { n, sha256 } of moved) {
      dir.sql.exec(`DELETE FROM contents WHERE n = ? AND sha256 = ? AND ${MOVABLE}`, n, sha256);
    }
  });
  return !isSpillDue(dir);
}

function movable(sql: SqlStorage, limit: number): Movable[] {
  const rows = sql.exec<{ n: number; sha256: string }>(
    `SELECT n, sha256 FROM contents WHERE ${MOVABLE} ORDER BY n LIMIT ?`,
    limit,
  );
  return rows.toArray();
}
