// The mount table: the only way from a path to a store, with what the principal may do. The longest
// mount that holds a path wins, so an inner mount shadows the outer one.

import { MemdirError } from "../errors.ts";
import { canonicalPath, isWithin } from "../safety/path.ts";
import type { FileEntry, FileStore } from "./store.ts";

export interface Mount {
  /** Canonical absolute path of its root: "/workspace/app". */
  at: string;
  store: FileStore;
  rights: "read" | "write";
  /** One file, in bytes. */
  maxFileBytes: number;
  /** What it is, for messages: "auto memory". */
  label: string;
}

export type ResolvedPath =
  /** `relative` is the path in the store; "" is the mount's root. */
  | { status: "mounted"; mount: Mount; relative: string }
  /** No file: an ancestor of these mounts. */
  | { status: "above"; mounts: Mount[] }
  | { status: "outside"; roots: string[] };

export interface Mounts {
  /** In the order of their paths. */
  readonly list: readonly Mount[];
  /** `path` is canonical and absolute (`safety/path.ts`). */
  resolve(path: string): ResolvedPath;
}

/** A file as seen through the table. */
export interface MountedFile {
  /** Canonical absolute path. */
  path: string;
  mount: Mount;
  relative: string;
  entry: FileEntry;
}

/** Throws `internal` for a root that is not canonical or is given twice. */
export function createMounts(mounts: readonly Mount[]): Mounts {
  const list = [...mounts].sort((a, b) => (a.at < b.at ? -1 : 1));
  for (const [index, { at }] of list.entries()) {
    const canonical = canonicalPath(at);
    if (canonical.status === "refused") throw new MemdirError("internal", canonical.message, at);
    if (canonical.path !== at || list[index + 1]?.at === at) {
      throw new MemdirError(
        "internal",
        `Cannot mount "${at}": not canonical, or mounted twice`,
        at,
      );
    }
  }
  const longestFirst = [...list].sort((a, b) => b.at.length - a.at.length);

  return {
    list,
    resolve(path) {
      const mount = longestFirst.find((each) => isWithin(each.at, path));
      if (mount !== undefined) {
        return { status: "mounted", mount, relative: relativeTo(mount.at, path) };
      }
      const below = list.filter((each) => isWithin(path, each.at));
      if (below.length > 0) return { status: "above", mounts: below };
      return { status: "outside", roots: list.map((each) => each.at) };
    },
  };
}

/** The absolute path of a store's path; "" gives the mount's root. */
export function absolutePath(mount: Mount, relative: string): string {
  if (relative === "") return mount.at;
  return mount.at === "/" ? `/${relative}` : `${mount.at}/${relative}`;
}

/** `path` as seen from `root`, which holds it: "" for the root itself. */
export function relativeTo(root: string, path: string): string {
  return root === "/" ? path.slice(1) : path.slice(root.length + 1);
}

/**
 * The files below a directory (canonical, absolute), across mounts, at most `limit`, in the order
 * of mounts, then of paths. What an inner mount shadows is not among them. Ask for one more than
 * you want, to learn whether there is more. A file's own path yields nothing.
 */
export async function* listFiles(
  mounts: Mounts,
  dir: string,
  limit: number,
): AsyncGenerator<MountedFile> {
  let left = limit;
  for (const mount of mounts.list) {
    const prefix = prefixIn(mounts, mount, dir);
    if (prefix === undefined) continue;
    let after: string | undefined;
    do {
      const page = await mount.store.list({ prefix, after });
      for (const entry of page.entries) {
        const path = absolutePath(mount, entry.path);
        if (isShadowed(mounts, mount, path)) continue;
        if (left <= 0) return;
        left -= 1;
        yield { path, mount, relative: entry.path, entry };
      }
      after = page.next;
    } while (after !== undefined);
  }
}

/** What of a mount lies below `dir`: a prefix of its store, or nothing. */
function prefixIn(mounts: Mounts, mount: Mount, dir: string): string | undefined {
  if (isWithin(dir, mount.at)) return "";
  const resolved = mounts.resolve(dir);
  if (resolved.status !== "mounted" || resolved.mount !== mount) return undefined;
  return `${resolved.relative}/`;
}

function isShadowed(mounts: Mounts, mount: Mount, path: string): boolean {
  const resolved = mounts.resolve(path);
  return resolved.status !== "mounted" || resolved.mount !== mount;
}
