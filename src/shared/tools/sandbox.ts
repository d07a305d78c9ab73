// What a path from a model may reach. The tool list never changes within a session, so the sandbox
// refuses at the call. After it only the canonical path is used.

import type { Mount, Mounts } from "../files/mounts.ts";
import { checkWrite } from "../files/write-file.ts";
import { canonicalPath, showPath } from "../safety/path.ts";

/** The part that the file tools of a session share. */
export interface ToolEnv {
  mounts: Mounts;
  /** The files whose content the model knows. */
  seen: KnownFiles;
}

/** The etag of the content that the model knows, by canonical path. The notes of results change it. */
export interface KnownFiles {
  get(path: string): string | undefined;
}

type Access = "read" | "write";

export type SandboxedFile =
  | { status: "file"; path: string; mount: Mount; relative: string }
  | { status: "refused"; message: string };

type SandboxedDirectory =
  | { status: "directory"; path: string }
  | { status: "refused"; message: string };

/** A path that may name a file: below the root of a mount, with the right to `access`. */
export function sandboxFile(mounts: Mounts, raw: string, access: Access): SandboxedFile {
  const canonical = canonicalise(mounts, raw);
  if (canonical.status === "refused") return canonical;
  const { path } = canonical;
  const resolved = mounts.resolve(path);
  if (resolved.status === "outside") return outside(mounts, path);
  if (resolved.status === "above") return refuse(`${path} is a directory; ${NAME_A_FILE}`);
  const { mount, relative } = resolved;
  if (relative === "") {
    return refuse(`${path} is a directory, the root of ${mount.label}; ${NAME_A_FILE}`);
  }
  const refusal = access === "write" ? checkWrite(mount, relative, 0) : undefined;
  if (refusal !== undefined) return refuse(refusal.message);
  return { status: "file", path, mount, relative };
}

/** A directory to search: in a mount or above one. */
export function sandboxDirectory(mounts: Mounts, raw: string): SandboxedDirectory {
  const canonical = canonicalise(mounts, raw);
  if (canonical.status === "refused") return canonical;
  if (mounts.resolve(canonical.path).status === "outside") return outside(mounts, canonical.path);
  return { status: "directory", path: canonical.path };
}

/** Whether a directory exists even without a file in it: the root of a mount, or one above it. */
export function existsEmpty(mounts: Mounts, path: string): boolean {
  const resolved = mounts.resolve(path);
  return resolved.status === "above" || (resolved.status === "mounted" && resolved.relative === "");
}

const NAME_A_FILE = "name a file in it, Glob lists them";

function canonicalise(
  mounts: Mounts,
  raw: string,
): { status: "ok"; path: string } | { status: "refused"; message: string } {
  const canonical = canonicalPath(raw);
  if (canonical.status === "ok") return canonical;
  if (raw === "~" || raw.startsWith("~/")) {
    return refuse(`${showPath(raw)} is outside: "~" is not expanded here; ${rootsOf(mounts)}`);
  }
  return refuse(`${canonical.message}; ${rootsOf(mounts)}`);
}

function outside(mounts: Mounts, path: string): { status: "refused"; message: string } {
  return refuse(`${showPath(path)} is outside the directories of this session; ${rootsOf(mounts)}`);
}

/** Names every directory in full, so that a model that computed a path can correct itself. */
function rootsOf(mounts: Mounts): string {
  if (mounts.list.length === 0) return "this session has no directories";
  const roots = mounts.list.map(({ at, label, rights }) => {
    return `${at} (${label}${rights === "read" ? ", read-only" : ""})`;
  });
  return `you may use: ${roots.join(", ")}`;
}

function refuse(message: string): { status: "refused"; message: string } {
  return { status: "refused", message: `Refused: ${message}` };
}
