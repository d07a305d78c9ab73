import { log } from "../../../src/platform/log.ts";
import type { Actor } from "../../../src/platform/objects/memdir-rpc.ts";
import { sha256Hex } from "../../../src/shared/files/digest.ts";
import type { Receipt } from "../../../src/shared/files/receipt.ts";
import { MEMORY_FILE_BYTES } from "../../../src/shared/limits/files.ts";
import { INDEX_FILE } from "../../../src/shared/memdir/entrypoint.ts";
import type { Reconciled, TopicFile } from "../../../src/shared/memdir/reconcile.ts";
import { reconcileIndex } from "../../../src/shared/memdir/reconcile.ts";
import type { Decision } from "./apply-conditionally.ts";
import { applyConditionally, finished } from "./apply-conditionally.ts";
import { bytesOf } from "./contents.ts";
import type { Directory } from "./directory.ts";
import { headAt, scanHeads } from "./heads.ts";

/**
 * Restores the rule of two steps: each memory has its line in the index, no line goes nowhere. A
 * store that somebody made through the API has no index, and gets none. An index that is not UTF-8
 * stays as it is; one that would grow over the limit of a file gets the newest lines that fit.
 */
export async function reconcile(dir: Directory, actor: Actor): Promise<Receipt[]> {
  if (dir.meta.kind === "custom" || dir.meta.archivedAt !== null) return [];
  const decide = async (): Promise<Decision<Receipt[]>> => {
    const before = headAt(dir.sql, INDEX_FILE);
    const index = before && textOf(bytesOf(dir, before));
    if (index === null) return finished(leave("not UTF-8"));
    const result = await healed(dir, index);
    if (!result.changed || result.text === undefined) return finished([]);
    const bytes = new TextEncoder().encode(result.text);
    if (bytes.length > MEMORY_FILE_BYTES) return finished(leave("too large"));
    const change = { path: INDEX_FILE, bytes, sha256: await sha256Hex(bytes), before, actor };
    return { type: "put", change, reply: ({ receipt }) => [receipt], isLast: true };
  };
  return applyConditionally(dir, decide, () => []);
}

/** What healing adds holds no secret: a description that looks like one stays out of its line. */
async function healed(dir: Directory, index: string | undefined): Promise<Reconciled> {
  const files: TopicFile[] = scanHeads(dir.sql, Number.MAX_SAFE_INTEGER).map(
    ({ path, name, description }) => ({ path, name, description }),
  );
  const result = reconcileIndex({ index, files, bytes: MEMORY_FILE_BYTES });
  const added = new Set(result.added);
  const words = files
    .filter((file) => added.has(file.path))
    .map(({ path, name = "", description = "" }) => `${path}\n${name}\n${description}`);
  if ((await dir.scan({ path: INDEX_FILE, text: words.join("\n") })).length === 0) return result;
  const safe: TopicFile[] = [];
  for (const file of files) {
    const text = `${file.name ?? ""}\n${file.description ?? ""}`;
    const hits = added.has(file.path) ? await dir.scan({ path: file.path, text }) : [];
    // No line can name a path that holds a secret itself.
    if (hits.some((hit) => hit.line === 0)) continue;
    safe.push(hits.length > 0 ? { path: file.path } : file);
  }
  return reconcileIndex({ index, files: safe, bytes: MEMORY_FILE_BYTES });
}

function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { ignoreBOM: true, fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function leave(reason: string): Receipt[] {
  log("memdir.index_left", { reason });
  return [];
}
