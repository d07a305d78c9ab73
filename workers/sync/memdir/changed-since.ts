// The last word over a memory: a writer that can know of nothing after a certain change does not write
// what somebody else changed after it.

import type { WriteRequest } from "../../../src/platform/objects/memdir-rpc.ts";
import { INDEX_FILE } from "../../../src/shared/memdir/entrypoint.ts";
import { parsePointer } from "../../../src/shared/memdir/pointer.ts";
import { bytesOf } from "./contents.ts";
import type { Directory } from "./directory.ts";
import type { Head } from "./heads.ts";
import { headAt } from "./heads.ts";
import type { LaterVersion } from "./versions.ts";
import { lastVersionAt, othersAfter } from "./versions.ts";

/**
 * Why a write is older than what somebody else did since; undefined if it is not. `before`: the memory
 * that it changes. Before `since` only deletions and moves count: they leave no trace that the writer
 * could have seen. The index changes with every memory, so of the index only the lines count that the
 * write adds. Reads the versions after those two moments, no others.
 */
export function changedSince(
  dir: Directory,
  request: Pick<WriteRequest, "path" | "since" | "gone" | "actor">,
  before: Head | undefined,
  bytes: Uint8Array,
): string | undefined {
  const { path, since, gone, actor } = request;
  if (since === undefined) return undefined;
  const paths =
    path === INDEX_FILE ? addedTargets(before && bytesOf(dir, before), bytes) : new Set([path]);
  if (paths.size === 0) return undefined;
  // What came in the same millisecond may have come after it.
  const from = gone ? lastVersionAt(dir.sql, Math.min(gone.from, gone.ownFrom) - 1) : since;
  const others = othersAfter(dir.sql, Math.min(from, since), actor);
  for (const each of paths) {
    const isThere = headAt(dir.sql, each) !== undefined;
    const id = each === path ? before?.id : undefined;
    const other = others.findLast(
      (change) =>
        concerns(change, each, id) &&
        (change.n > since || (!isThere && id === undefined && isLoss(change, request))),
    );
    if (other) return reasonOf(each, other, each === path ? "" : "the line of ");
  }
  return undefined;
}

/** Whether a change took something away after the words that its writer goes by. */
function isLoss(
  { operation, gone, actor, at }: LaterVersion,
  { gone: times, actor: own }: Pick<WriteRequest, "gone" | "actor">,
): boolean {
  if (!times || (operation !== "deleted" && gone === null)) return false;
  // A session takes its messages one after the other, so its own deletion may answer an earlier one.
  const isOwn =
    actor.type === "session" && own.type === "session" && actor.sessionId === own.sessionId;
  return at >= (isOwn ? times.ownFrom : times.from);
}

/** A deletion that was redacted no longer says where: then it may have been anywhere. */
function concerns(other: LaterVersion, path: string, memoryId: string | undefined): boolean {
  if (other.path === path || other.gone === path || other.memoryId === memoryId) return true;
  return memoryId === undefined && other.operation === "deleted" && other.path === null;
}

function reasonOf(path: string, other: LaterVersion, what = ""): string {
  const how = other.operation === "deleted" || other.gone === path ? "deleted or moved" : "changed";
  return `Cannot write ${what}${path}: it was ${how} by somebody else after what this run looks at, and that is the last word. Leave it as it is now, and do not save the same under another name`;
}

/** The memories to which a text of the index has a line that the text before it has not. */
function addedTargets(before: Uint8Array | undefined, after: Uint8Array): Set<string> {
  const known = new Set(before && linesOf(before));
  const added = linesOf(after).filter((line) => !known.has(line));
  return new Set(added.flatMap((line) => parsePointer(line)?.path ?? []));
}

function linesOf(bytes: Uint8Array): string[] {
  return new TextDecoder()
    .decode(bytes)
    .split("\n")
    .map((line) => line.trim());
}
