// What a path from a model may reach. The tool list never changes within a session: the sandbox
// denies at the call. The canonical path that it returns is the only one used from there on.

import type { Mount, Mounts } from "../files/mounts.ts";
import { checkWrite } from "../files/write-file.ts";
import { canonicalPath, showPath } from "../safety/path.ts";

/** What the file tools of one session share. */
export interface ToolEnv {
  mounts: Mounts;
  /** What of each file the model knows. */
  seen: KnownFiles;
}

/** By canonical path, the etag of the content that the model knows. What a result's notes say counts. */
export interface KnownFiles {
  get(path: string): string | undefined;
}

export type Access = "read" | "write";

export type SandboxedFile =
  | { status: "file"; path: string; mount: Mount; relative: string }
  | { status: "refused"; message: string };

export type SandboxedDirectory =
  | { status: "directory"; path: string }
  | { status: "refused"; message: string };

/** A path that may name a file: inside a mount, below its root, with the right to do it. */
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

/** A place to search: in a mount or above some; nothing outside is ever looked at. */
export function sandboxDirectory(mounts: Mounts, raw: string): SandboxedDirectory {
  const canonical = canonicalise(mounts, raw);
  if (canonical.status === "refused") return canonical;
  if (mounts.resolve(canonical.path).status === "outside") return outside(mounts, canonical.path);
  return { status: "directory", path: canonical.path };
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
