// One version back. Nothing ever leaves the history: going back appends a version too.

import type { Actor, Change, WriteReply } from "../../../src/platform/objects/memdir-rpc.ts";
import { MemdirError } from "../../../src/shared/errors.ts";
import type { Decision } from "./apply-conditionally.ts";
import { applyConditionally, finished } from "./apply-conditionally.ts";
import { readContent } from "./contents.ts";
import type { Directory } from "./directory.ts";
import { headById, overlapping, publicHead } from "./heads.ts";
import { versionById } from "./versions.ts";
import { fullStore, pathConflict, refusal, unchanged } from "./write.ts";

/** What a memory was: its path and its content. */
export interface State {
  path: string;
  sha256: string;
  bytes: Uint8Array;
}

/** Brings a version back, with its path and id, whatever became of the memory since. */
export async function restore(
  dir: Directory,
  versionId: string,
  change: Change,
): Promise<WriteReply> {
  const version = versionById(dir.sql, versionId);
  if (!version) return { status: "missing" };
  const { path, sha256, memoryId } = version;
  if (path === null || sha256 === null) {
    throw new MemdirError(
      "invalid_request",
      version.redactedAt === null
        ? "This version is a deletion and has no content. Restore the one before it"
        : "This version is redacted: its content is gone",
    );
  }
  const bytes = await readContent(dir, sha256);
  if (!bytes) {
    throw new MemdirError("unavailable", "The file storage has lost this version's content");
  }
  const problem = await refusal(dir, change, path, bytes);
  if (problem) return problem;
  return comeBack(dir, memoryId, { path, sha256, bytes }, change.actor);
}

/** Makes a memory what it was. Nobody's conditions but those of the paths: the caller has checked. */
export async function comeBack(
  dir: Directory,
  memoryId: string,
  { path, sha256, bytes }: State,
  actor: Actor,
): Promise<WriteReply> {
  const decide = (): Decision<WriteReply> => {
    const before = headById(dir.sql, memoryId);
    if (before?.path === path && before.sha256 === sha256) {
      return finished(unchanged(dir, before, actor));
    }
    const full = before ? undefined : fullStore(dir);
    if (full) return finished(full);
    const taken = overlapping(dir.sql, path, memoryId);
    if (taken) return finished(pathConflict(taken));
    return {
      type: "put",
      change: { path, bytes, sha256, before, memoryId, actor },
      reply: ({ receipt, head }) => ({ status: "written", receipt, head: publicHead(head) }),
    };
  };
  return applyConditionally(dir, decide, () => ({ status: "conflict", head: null }));
}
