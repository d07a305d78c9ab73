// Each content once, by its sha256: versions, heads and intents only refer to it. What a head or an
// intent refers to is always here; what only the history refers to may have moved to R2 (`spill.ts`).

import { log } from "../../../src/platform/log.ts";
import type { MemoryRead, Version } from "../../../src/platform/objects/memdir-rpc.ts";
import { sha256Hex } from "../../../src/shared/files/digest.ts";
import { sideBySide } from "../../../src/shared/files/side-by-side.ts";
import type { Directory } from "./directory.ts";
import type { Head } from "./heads.ts";
import { publicHead } from "./heads.ts";
import { versionById } from "./versions.ts";

export interface Content {
  bytes: Uint8Array;
  sha256: string;
}

/** A content that is in the rows. */
export interface StoredContent extends Content {
  /** The number of its row. */
  n: number;
}

/** Stores a content that is not here yet, or not any more. */
export function addContent(sql: SqlStorage, { bytes, sha256 }: Content): StoredContent {
  const [made] = sql
    .exec<{ n: number }>(
      `INSERT INTO contents (sha256, bytes) SELECT ?, ? WHERE NOT EXISTS (${HERE}) RETURNING n`,
      sha256,
      bytes,
      sha256,
      sha256,
    )
    .toArray();
  const { n } = made ?? sql.exec<{ n: number }>(HERE, sha256, sha256).one();
  return { n, bytes, sha256 };
}

/** The row of a content, by its sha256 twice: the newest version that has it knows where it is. */
const HERE = `SELECT n, bytes FROM contents
  WHERE n = (SELECT content FROM versions WHERE sha256 = ? ORDER BY n DESC LIMIT 1) AND sha256 = ?`;

/** A content by the number of its row, if it is there. */
export function contentHere(sql: SqlStorage, n: number): Uint8Array | undefined {
  const [row] = sql
    .exec<{ bytes: ArrayBuffer }>("SELECT bytes FROM contents WHERE n = ?", n)
    .toArray();
  return row && new Uint8Array(row.bytes);
}

/** The content of a head; it has one as long as it is a head. */
export function bytesOf(dir: Directory, head: Head): Uint8Array {
  return contentHere(dir.sql, head.content) ?? new Uint8Array();
}

/** A memory with its content; null where there is none. */
export function readHead(dir: Directory, head: Head | undefined): MemoryRead | null {
  return head ? { ...publicHead(head), bytes: bytesOf(dir, head) } : null;
}

/**
 * A content, wherever it is. Undefined where nothing here refers to it, and where R2 has lost it or
 * has something else in its place. Throws `unavailable` while R2 does not answer.
 */
export async function readContent(dir: Directory, sha256: string): Promise<Uint8Array | undefined> {
  const [here] = dir.sql.exec<{ bytes: ArrayBuffer }>(HERE, sha256, sha256).toArray();
  if (here) return new Uint8Array(here.bytes);
  if (!isKnown(dir.sql, sha256)) return undefined;
  const found = await dir.spilled.get(sha256);
  if (found && (await sha256Hex(found.bytes)) === sha256) return found.bytes;
  if (isKnown(dir.sql, sha256)) log("memdir.content_lost", {});
  return undefined;
}

/** Drops a content that no version came to refer to. */
export function dropUnused(sql: SqlStorage, { n, sha256 }: StoredContent): void {
  sql.exec(
    `DELETE FROM contents WHERE n = ?
       AND NOT EXISTS (SELECT 1 FROM versions WHERE sha256 = ? AND content = ?)`,
    n,
    sha256,
    n,
  );
}

/** Drops the rows of a content, before the versions forget it. */
export function dropContent(sql: SqlStorage, sha256: string): void {
  sql.exec(
    `DELETE FROM contents
     WHERE sha256 = ? AND n IN (SELECT content FROM versions WHERE sha256 = ?)`,
    sha256,
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
  const rows = sql.exec("SELECT 1 FROM versions WHERE sha256 = ? LIMIT 1", sha256);
  return rows.toArray().length > 0;
}
