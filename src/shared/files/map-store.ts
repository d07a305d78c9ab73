import { sha256Hex } from "./digest.ts";
import { checkListQuery } from "./list-query.ts";
import type { FileEntry, FileStore, Precondition, StoredFile } from "./store.ts";

/**
 * A FileStore in a Map, for tests and for what lives no longer than its owner. Bytes are copied in
 * and out; the etag is the content's SHA-256. `now` gives milliseconds since the epoch.
 */
export function createMapStore(now: () => number): FileStore {
  const files = new Map<string, StoredFile>();

  function holds(path: string, precondition: Precondition | undefined): boolean {
    if (precondition === undefined) return true;
    const current = files.get(path);
    if ("ifAbsent" in precondition) return current === undefined;
    return current !== undefined && current.etag === precondition.ifMatch;
  }

  return {
    async get(path) {
      const file = files.get(path);
      return file === undefined ? undefined : { ...file, bytes: file.bytes.slice() };
    },
    async head(path) {
      const file = files.get(path);
      return file === undefined ? undefined : entryOf(file);
    },
    async put(path, bytes, precondition) {
      const copy = bytes.slice();
      const etag = await sha256Hex(copy);
      // No await between the check and the write: this is what makes them one step.
      if (!holds(path, precondition)) return { status: "conflict" };
      const file = { path, size: copy.length, etag, modified: now(), bytes: copy };
      files.set(path, file);
      return { status: "written", entry: entryOf(file) };
    },
    async delete(path, precondition) {
      if (!files.has(path)) return { status: "missing" };
      if (!holds(path, precondition)) return { status: "conflict" };
      files.delete(path);
      return { status: "deleted" };
    },
    async list(query) {
      const { prefix, after, limit } = checkListQuery(query);
      const paths = [...files.keys()]
        .filter((path) => path.startsWith(prefix) && path > after)
        .sort();
      const entries: FileEntry[] = [];
      for (const path of paths.slice(0, limit)) {
        const file = files.get(path);
        if (file !== undefined) entries.push(entryOf(file));
      }
      const last = entries.at(-1);
      return paths.length > limit && last !== undefined
        ? { entries, next: last.path }
        : { entries };
    },
  };
}

function entryOf(file: StoredFile): FileEntry {
  return { path: file.path, size: file.size, etag: file.etag, modified: file.modified };
}
