// THE way every writer goes, whatever its door: tools, HTTP, extraction, sync. It checks rights, root,
// size and the shape of the tree before it stores anything.

import { absolutePath, type Mount } from "./mounts.ts";
import type { DeleteResult, Precondition, PutResult } from "./store.ts";

export type WriteRefusal = {
  status: "refused";
  reason: "read_only" | "root" | "too_large" | "file_above" | "files_below";
  message: string;
};

export type WriteFileResult = PutResult | WriteRefusal;

export type DeleteFileResult = DeleteResult | WriteRefusal;

/**
 * Stores `bytes` at the canonical path `relative` of a mount. Refuses a file where a directory is, and
 * a directory where a file is: other stores and a mount on a disk could not hold both. It looks at
 * that only for a new file, and two writers at once can still make such a pair.
 * Throws what the store throws.
 */
export async function writeFile(
  mount: Mount,
  relative: string,
  bytes: Uint8Array,
  precondition?: Precondition,
): Promise<WriteFileResult> {
  const refusal = checkWrite(mount, relative, bytes.length);
  if (refusal !== undefined) return refusal;
  const mayCreate = precondition === undefined || "ifAbsent" in precondition;
  if (mayCreate && (await mount.store.head(relative)) === undefined) {
    const clash = await findClash(mount, relative);
    if (clash !== undefined) return clash;
  }
  return mount.store.put(relative, bytes, precondition);
}

/** Deletes one file; refuses a root and a directory. Throws what the store throws. */
export async function deleteFile(
  mount: Mount,
  relative: string,
  precondition?: { ifMatch: string },
): Promise<DeleteFileResult> {
  const refusal = checkWrite(mount, relative, 0);
  if (refusal !== undefined) return refusal;
  const result = await mount.store.delete(relative, precondition);
  if (result.status !== "missing" || !(await hasFilesBelow(mount, relative))) return result;
  return refuse("files_below", `Cannot delete ${absolutePath(mount, relative)}: it is a directory`);
}

/** What can be said without the store: rights, root, size in bytes. One message for all writers. */
export function checkWrite(
  mount: Mount,
  relative: string,
  byteLength: number,
): WriteRefusal | undefined {
  const path = absolutePath(mount, relative);
  if (mount.rights !== "write") {
    return refuse(
      "read_only",
      `Cannot change ${path}: ${mount.at} (${mount.label}) is read-only here`,
    );
  }
  if (relative === "") {
    return refuse(
      "root",
      `Cannot change ${path}: it is the root of ${mount.label}; name a file in it`,
    );
  }
  if (byteLength <= mount.maxFileBytes) return undefined;
  return refuse(
    "too_large",
    `Cannot write ${path}: it would hold ${byteLength} bytes, the limit for one file in ${mount.label}` +
      ` is ${mount.maxFileBytes} bytes; shorten it or split it into several files`,
  );
}

/** Whether `relative` is a directory; "" is one if the store holds anything. */
export async function hasFilesBelow(mount: Mount, relative: string): Promise<boolean> {
  const prefix = relative === "" ? "" : `${relative}/`;
  return (await mount.store.list({ prefix, limit: 1 })).entries.length > 0;
}

async function findClash(mount: Mount, relative: string): Promise<WriteRefusal | undefined> {
  const path = absolutePath(mount, relative);
  if (await hasFilesBelow(mount, relative)) {
    return refuse("files_below", `Cannot write ${path}: it is a directory`);
  }
  for (let end = relative.lastIndexOf("/"); end > 0; end = relative.lastIndexOf("/", end - 1)) {
    const ancestor = relative.slice(0, end);
    if ((await mount.store.head(ancestor)) === undefined) continue;
    const file = absolutePath(mount, ancestor);
    return refuse("file_above", `Cannot write ${path}: ${file} is a file, not a directory`);
  }
  return undefined;
}

function refuse(reason: WriteRefusal["reason"], message: string): WriteRefusal {
  return { status: "refused", reason, message };
}
