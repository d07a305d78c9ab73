// A redaction takes a content out of the history for good, wherever the history has it: out of the
// rows in one transaction, then out of R2. What R2 does not delete now is on disk until it does.

import { errorName, log } from "../../../src/platform/log.ts";
import type { Actor, Version } from "../../../src/platform/objects/memdir-rpc.ts";
import { MemdirError } from "../../../src/shared/errors.ts";
import { dropContent } from "./contents.ts";
import type { Directory } from "./directory.ts";
import { headWith } from "./heads.ts";
import { pathDigests, rememberRedaction } from "./losses.ts";
import { rememberErased } from "./outbox.ts";
import { redactVersions, versionById } from "./versions.ts";

/**
 * Redacts a version, and all others with the same bytes. Throws `invalid_request` while a memory has
 * that content now.
 */
export async function redact(
  dir: Directory,
  versionId: string,
  actor: Actor,
): Promise<Version | undefined> {
  const { sql } = dir;
  const version = versionById(sql, versionId);
  if (!version || version.redactedAt !== null) return version;
  const { sha256 } = version;
  const present = sha256 === null ? undefined : headWith(sql, sha256);
  if (present) {
    throw new MemdirError(
      "invalid_request",
      `This version is the present content of the memory at "/${present.path}", which cannot be redacted. Update or delete that memory first`,
    );
  }
  const paths = sha256 === null ? [] : await pathDigests(sql, sha256);
  dir.commit(() => {
    if (sha256 !== null) {
      rememberRedaction(sql, paths);
      dropContent(sql, sha256);
      rememberErased(sql, sha256);
      // Also where the rows held it: a move to R2 that a crash cut off may have left a copy there.
      sql.exec("INSERT OR IGNORE INTO erasures (sha256) VALUES (?)", sha256);
    }
    redactVersions(sql, version, actor, dir.now());
  });
  if (!(await erase(dir))) dir.later();
  return versionById(sql, versionId);
}

/** Deletes in R2 what redactions took out of the rows; true when nothing is left to do. */
export async function erase(dir: Directory): Promise<boolean> {
  const { sql } = dir;
  const rows = sql.exec<{ sha256: string }>("SELECT sha256 FROM erasures").toArray();
  try {
    for (const { sha256 } of rows) {
      await dir.spilled.delete(sha256);
      sql.exec("DELETE FROM erasures WHERE sha256 = ?", sha256);
    }
    return true;
  } catch (error) {
    log("memdir.erasure_pending", { error: errorName(error) });
    return false;
  }
}
