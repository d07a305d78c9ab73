// What others change in R2, past this object, becomes versions by `external`: R2 holds every file at a
// readable key, and people and programs may use it.

import { newId } from "../../../src/platform/ids.ts";
import { errorName, log } from "../../../src/platform/log.ts";
import { sha256Hex } from "../../../src/shared/files/digest.ts";
import type { Receipt } from "../../../src/shared/files/receipt.ts";
import { sideBySide } from "../../../src/shared/files/side-by-side.ts";
import type { FileEntry } from "../../../src/shared/files/store.ts";
import { MEMORY_FILE_BYTES } from "../../../src/shared/limits/files.ts";
import { canonicalRelative } from "../../../src/shared/safety/path.ts";
import { whyUnreadable } from "../../../src/shared/text/unreadable.ts";
import { broughtTime, replacedTime } from "./brought-time.ts";
import { addContent, bytesOf, type Content } from "./contents.ts";
import { type Directory, isStorageFull } from "./directory.ts";
import type { Head } from "./heads.ts";
import { dropHead, headAt, listHeads, putHead } from "./heads.ts";
import { pendingEtag, syncPath } from "./outbox.ts";
import { addVersion } from "./versions.ts";

/** Files whose bytes are in memory at once, and in one transaction. */
const BATCH_FILES = 32;
/** A change to the rows, within a transaction. */
type Import = () => Receipt | undefined;

const EXTERNAL = { type: "external" as const };

/** Compares all of R2 with the index and imports what differs; answers with the receipts. */
export async function importChanges(dir: Directory): Promise<Receipt[]> {
  const there = new Map<string, FileEntry>();
  let after: string | undefined;
  do {
    const page = await dir.files.list({ prefix: "", after });
    for (const entry of page.entries) there.set(entry.path, entry);
    after = page.next;
  } while (after !== undefined);

  // Near the platform's limit only losses come in: they take no room.
  const full = isStorageFull(dir);
  if (full) log("memdir.outside_files_left", { reason: "storage" });
  const differing = (full ? [] : [...there.values()])
    .filter((entry) => entry.etag !== headAt(dir.sql, entry.path)?.etag)
    .filter((entry) => fits(entry))
    .map((entry) => entry.path);
  const missing = allHeads(dir)
    .filter((head) => !there.has(head.path) && head.etag !== null)
    .map((head) => head.path);
  const receipts: Receipt[] = [];
  const paths = [...differing, ...missing];
  for (let start = 0; start < paths.length; start += BATCH_FILES) {
    receipts.push(...(await importBatch(dir, paths.slice(start, start + BATCH_FILES))));
  }
  return receipts.toSorted((a, b) => a.n - b.n);
}

/**
 * Looks at some paths side by side; what they come to is one transaction, in the order of the paths: a
 * file that moved comes before its old place goes, and is known as a copy.
 */
async function importBatch(dir: Directory, paths: readonly string[]): Promise<Receipt[]> {
  const found: (Import | undefined)[] = [];
  await sideBySide(paths, async (path, index) => {
    try {
      const looked = await lookAt(dir, path);
      found[index] = looked === "left" ? undefined : looked;
    } catch (error) {
      leave(error);
    }
  });
  const imports = found.filter((each) => each !== undefined);
  try {
    return dir.commit(() => imports.flatMap((each) => each() ?? []));
  } catch {
    // A file that fails does not keep the others out.
    return imports.flatMap((each) => {
      try {
        return dir.commit(each) ?? [];
      } catch (error) {
        leave(error);
        return [];
      }
    });
  }
}

function leave(error: unknown): void {
  log("memdir.not_imported", { error: errorName(error) });
}

/** What nobody could write here does not come in by R2 either: it stays there, out of the memory. */
function fits({ path, size }: FileEntry, bytes?: Uint8Array): boolean {
  const canonical = canonicalRelative(path);
  const reason =
    canonical.status !== "ok" || canonical.path !== path
      ? "path"
      : size > MEMORY_FILE_BYTES
        ? "size"
        : bytes && whyUnreadable(bytes) !== undefined
          ? "text"
          : undefined;
  if (reason !== undefined) log("memdir.outside_file_left", { reason });
  return reason === undefined;
}

/**
 * Looks at one path in R2 and imports what is there, or that nothing is there any more. "left": what is
 * there cannot come in, and no further attempt changes that.
 */
export async function importPath(dir: Directory, path: string): Promise<"left" | undefined> {
  const found = await lookAt(dir, path);
  if (found === "left") return found;
  if (found) dir.commit(found);
  return undefined;
}

/** What R2 has at a path, as the change to the rows that takes it in; undefined for nothing to do. */
async function lookAt(dir: Directory, path: string): Promise<Import | "left" | undefined> {
  // What is in the outbox is newer than R2: it reaches R2 first, or the path stays as it is.
  const pending = pendingEtag(dir.sql, path);
  if (pending !== undefined && !(await syncPath(dir, path, pending))) return undefined;
  const found = await dir.files.get(path);
  if (found && !fits(found, found.bytes)) return "left";
  if (!found) {
    return () => {
      const head = headAt(dir.sql, path);
      return head && head.etag !== null ? importLoss(dir, head) : undefined;
    };
  }
  const content = { bytes: found.bytes, sha256: await sha256Hex(found.bytes) };
  return () => {
    const head = headAt(dir.sql, path);
    if (head?.sha256 !== content.sha256) {
      return importContent(dir, path, content, found.etag, head);
    }
    dir.sql.exec("UPDATE heads SET etag = ? WHERE path = ?", found.etag, path);
    return undefined;
  };
}

function importContent(
  dir: Directory,
  path: string,
  content: Content,
  etag: string,
  before: Head | undefined,
): Receipt {
  const at = dir.now();
  const operation = before ? "modified" : "created";
  const memoryId = before?.id ?? newId("mem");
  const versionId = newId("memver");
  const size = content.bytes.length;
  const stored = addContent(dir.sql, content);
  const n = addVersion(dir.sql, {
    id: versionId,
    memoryId,
    operation,
    path,
    content: stored,
    actor: EXTERNAL,
    at,
  });
  const brought = before
    ? replacedTime(content.bytes, bytesOf(dir, before), at)
    : broughtTime(dir.sql, content, EXTERNAL, at);
  const updatedAt = brought ?? at;
  const createdAt = before?.createdAt ?? updatedAt;
  const head: Head = {
    id: memoryId,
    path,
    n,
    versionId,
    content: stored.n,
    sha256: content.sha256,
    size,
    createdAt,
    updatedAt,
    etag,
  };
  putHead(dir.sql, head, content.bytes);
  return { path, operation, memoryId, versionId, n };
}

function importLoss(dir: Directory, head: Head): Receipt {
  const versionId = newId("memver");
  const { id: memoryId, path } = head;
  const n = addVersion(dir.sql, {
    id: versionId,
    memoryId,
    operation: "deleted",
    path,
    gone: path,
    actor: EXTERNAL,
    at: dir.now(),
  });
  dropHead(dir.sql, path);
  return { path, operation: "deleted", memoryId, versionId, n };
}

function allHeads(dir: Directory): Head[] {
  return listHeads(dir.sql, { prefix: "", limit: Number.MAX_SAFE_INTEGER });
}
