// Each content once, by its sha256: versions, heads and intents only refer to it. What a head or an
// intent refers to is always here; what only the history refers to may have moved to R2 (`spill.ts`).

import { log } from "../../../src/platform/log.ts";
import type { Version } from "../../../src/platform/objects/memdir-rpc.ts";
import { sha256Hex } from "../../../src/shared/files/digest.ts";
import { sideBySide } from "../../../src/shared/files/side-by-side.ts";
import type { Directory } from "./directory.ts";
import type { Head } from "./heads.ts";
import { versionById } from "./versions.ts";

/** Stores a content that is not here yet, or not any more. */
export function addContent(
  sql: SqlStorage,
  { bytes, sha256 }: { bytes: Uint8Array; sha256: string },
): void {
  const [known] = sql
    .exec<{ here: number }>(
      "SELECT bytes IS NOT NULL AS here FROM contents WHERE sha256 = ?",
      sha256,
    )
    .toArray();
  if (known?.here === 1) return;
  if (known) {
    sql.exec("UPDATE contents SET bytes = ? WHERE sha256 = ?", bytes, sha256);
    return;
  }
  sql.exec(
    "INSERT INTO contents (sha256, size, bytes) VALUES (?, ?, ?)",
    sha256,
    bytes.length,
    bytes,
  );
}

/** A content that is in this object's rows; that of a head always is. */
export function contentHere(sql: SqlStorage, sha256: string): Uint8Array | undefined {
  const [row] = sql
    .exec<{ bytes: ArrayBuffer | null }>("SELECT bytes FROM contents WHERE sha256 = ?", sha256)
    .toArray();
  return row?.bytes ? new Uint8Array(row.bytes) : undefined;
}

/** The content of a head; it has one as long as it is a head. */
export function bytesOf(dir: Directory, head: Head): Uint8Array {
  return contentHere(dir.sql, head.sha256) ?? new Uint8Array();
}

/**
 * A content, wherever it is. Undefined where nothing here refers to it, and where R2 has lost it or
 * has something else in its place. Throws `unavailable` while R2 does not answer.
 */
export async function readContent(dir: Directory, sha256: string): Promise<Uint8Array | undefined> {
  const here = contentHere(dir.sql, sha256);
  if (here || !isKnown(dir.sql, sha256)) return here;
  const found = await dir.spilled.get(sha256);
  if (found && (await sha256Hex(found.bytes)) === sha256) return found.bytes;
  if (isKnown(dir.sql, sha256)) log("memdir.content_lost", {});
  return undefined;
}

/** Drops a content that no version came to refer to. */
export function dropUnused(sql: SqlStorage, sha256: string): void {
  sql.exec(
    `DELETE FROM contents WHERE sha256 = ?
       AND NOT EXISTS (SELECT 1 FROM versions WHERE versions.sha256 = contents.sha256)`,
    sha256,
  );
}

/** The same versions with their content. One that was redacted meanwhile comes as it is now. */
export async function withContents(
  dir: Directory,
  versions: readonly Version[],
): Promise<Version[]> {
  const filled = [...versions];
  await sideBySide(versions, async (version, index) => {
    if (version.sha256 === null) return;
    const bytes = await readContent(dir, version.sha256);
    filled[index] = bytes ? { ...version, bytes } : (versionById(dir.sql, version.id) ?? version);
  });
  return filled;
}

function isKnown(sql: SqlStorage, sha256: string): boolean {
  return sql.exec("SELECT 1 FROM contents WHERE sha256 = ?", sha256).toArray().length > 0;
}
