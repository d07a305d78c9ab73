// Which folder a project's memory belongs to: all worktrees of a repository share one. What a
// `.git` file says came from outside, so it counts only within its workspace.

import { canonicalPath, isWithin } from "../safety/path.ts";

/** What this reads of a workspace; paths are relative to its root. A `FileStore` is one. */
export interface WorkspaceReader {
  get(path: string): Promise<{ bytes: Uint8Array } | undefined>;
  head(path: string): Promise<{ size: number } | undefined>;
  list(query: { prefix: string; limit?: number }): Promise<{ entries: readonly unknown[] }>;
}

export interface GitRoot {
  /** Canonical and absolute. */
  root: string;
  /** Why a `.git` file was not followed. */
  diagnostic?: string | undefined;
}

/** Folders looked at upwards: each costs two storage calls, and an invocation has about 1,000. */
const MOST_LEVELS = 64;
/** A `.git` file, in bytes: it holds one path. */
const POINTER_BYTES = 4096;

/**
 * The canonical git root of a project: from `projectRoot` upwards within the workspace the first
 * folder with `.git`; a worktree's pointer leads on to its main folder where that lies in the same
 * workspace and is a repository. A pointer that is malformed, leads elsewhere or to nothing leaves
 * the worktree its own folder, with a diagnostic; a submodule is a project of its own. Without git,
 * and outside the workspace, it is `projectRoot`. Both roots are canonical.
 */
export async function gitRoot(
  files: WorkspaceReader,
  projectRoot: string,
  workspaceRoot: string,
): Promise<GitRoot> {
  if (!isWithin(workspaceRoot, projectRoot)) return { root: projectRoot };
  let folder = projectRoot;
  for (let level = 0; level < MOST_LEVELS; level += 1) {
    const git = below(workspaceRoot, `${folder}/.git`);
    const [file, isFolder] = await Promise.all([files.head(git), hasFiles(files, git)]);
    if (isFolder) return { root: folder };
    if (file !== undefined) return followPointer(files, folder, workspaceRoot, file.size);
    if (folder === workspaceRoot) break;
    folder = folder.slice(0, folder.lastIndexOf("/"));
  }
  return { root: projectRoot };
}

async function followPointer(
  files: WorkspaceReader,
  folder: string,
  workspaceRoot: string,
  size: number,
): Promise<GitRoot> {
  const own = (reason: string): GitRoot => ({
    root: folder,
    diagnostic: `the .git file of this worktree ${reason}; it is taken as a project of its own`,
  });
  if (size > POINTER_BYTES) return own(`is longer than ${POINTER_BYTES} bytes`);
  const target = pointerOf(await files.get(below(workspaceRoot, `${folder}/.git`)));
  if (target === undefined) return own('is not one line "gitdir: <path>"');
  const gitDir = resolve(folder, target);
  if (gitDir === undefined) return own("holds a path that cannot be used");
  if (!isWithin(workspaceRoot, gitDir)) return own("points out of its workspace");
  // A submodule, or a worktree of one.
  if (gitDir.includes("/.git/modules/")) return { root: folder };
  const main = /^(.+?)\/\.git\/worktrees\/[^/]+$/.exec(gitDir)?.[1];
  if (main === undefined || !isWithin(workspaceRoot, main)) {
    return own("does not point to <repository>/.git/worktrees/<name>");
  }
  const exists = await hasFiles(files, below(workspaceRoot, `${main}/.git`));
  return exists ? { root: main } : own("points to a repository that is not in this workspace");
}

/** The path of a pointer; git itself ends it at the line's end, LF or CRLF. */
function pointerOf(file: { bytes: Uint8Array } | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(file.bytes);
    return /^gitdir: ([^\r\n]+)[\r\n]*$/.exec(text)?.[1];
  } catch {
    return undefined;
  }
}

/**
 * The canonical path of a pointer, which alone may hold "..", since git writes it so; undefined
 * where it climbs above the root or is refused as a path.
 */
function resolve(folder: string, target: string): string | undefined {
  if (target.startsWith("//")) return undefined;
  const kept: string[] = [];
  for (const part of (target.startsWith("/") ? target : `${folder}/${target}`).split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") kept.push(part);
    else if (kept.pop() === undefined) return undefined;
  }
  const path = canonicalPath(`/${kept.join("/")}`);
  return path.status === "ok" ? path.path : undefined;
}

async function hasFiles(files: WorkspaceReader, folder: string): Promise<boolean> {
  return (await files.list({ prefix: `${folder}/`, limit: 1 })).entries.length > 0;
}

/** `path` as the workspace's store knows it. */
function below(workspaceRoot: string, path: string): string {
  return path.slice(workspaceRoot.length + 1);
}
