import type { Actor, Receipt } from "../../../src/platform/memdir-rpc.ts";
import { sha256Hex } from "../../../src/shared/files/digest.ts";
import { INDEX_FILE } from "../../../src/shared/memdir/entrypoint.ts";
import { reconcileIndex } from "../../../src/shared/memdir/reconcile.ts";
import { applyPut } from "./apply.ts";
import type { Directory } from "./directory.ts";
import { headAt, scanHeads } from "./heads.ts";
import { bytesOf, takeInPath } from "./take-in.ts";

/**
 * Restores the rule of two steps: each memory has its line in the index, no line goes nowhere. A
 * store that somebody made through the API has no index, and gets none.
 */
export async function reconcile(dir: Directory, actor: Actor): Promise<Receipt[]> {
  if (dir.meta.kind === "custom" || dir.meta.archivedAt !== null) return [];
  for (let tries = 0; tries < 3; tries += 1) {
    const before = headAt(dir.sql, INDEX_FILE);
    const index =
      before &&
      new TextDecoder("utf-8", { ignoreBOM: true, fatal: false }).decode(bytesOf(dir, before));
    const files = scanHeads(dir.sql, Number.MAX_SAFE_INTEGER).map(
      ({ path, name, description }) => ({
        path,
        ...(name === undefined ? {} : { name }),
        ...(description === undefined ? {} : { description }),
      }),
    );
    const result = reconcileIndex({ index, files });
    if (!result.changed || result.text === undefined) return [];
    const bytes = new TextEncoder().encode(result.text);
    const sha256 = await sha256Hex(bytes);
    const applied = await applyPut(dir, { path: INDEX_FILE, bytes, sha256, before, actor });
    if (applied.status === "applied") return [applied.receipt];
    await takeInPath(dir, INDEX_FILE);
  }
  return [];
}
