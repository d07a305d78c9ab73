// One attempt at R2, on the condition that it holds what we know. A refusal for now is a value: the
// caller has an outbox.

import { errorName, log } from "../../../src/platform/log.ts";
import { sha256Hex } from "../../../src/shared/files/digest.ts";
import type { Directory } from "./directory.ts";

/** The etag of what R2 holds afterwards; a repeated put of the same content counts as made. */
export async function putInR2(
  dir: Directory,
  path: string,
  bytes: Uint8Array,
  sha256: string,
  etag: string | null,
): Promise<string | "changed_outside" | "not_now"> {
  try {
    const condition = etag === null ? { ifAbsent: true as const } : { ifMatch: etag };
    const put = await dir.files.put(path, bytes, condition);
    if (put.status === "written") return put.entry.etag;
    const found = await dir.files.get(path);
    if (found && (await sha256Hex(found.bytes)) === sha256) return found.etag;
    return "changed_outside";
  } catch (error) {
    log("memdir.put_pending", { error: errorName(error) });
    return "not_now";
  }
}

/** Deletes what has this etag; nothing there counts as deleted. */
export async function deleteInR2(
  dir: Directory,
  path: string,
  etag: string,
): Promise<"deleted" | "changed_outside" | "not_now"> {
  try {
    const { status } = await dir.files.delete(path, { ifMatch: etag });
    return status === "conflict" ? "changed_outside" : "deleted";
  } catch (error) {
    log("memdir.delete_pending", { error: errorName(error) });
    return "not_now";
  }
}
