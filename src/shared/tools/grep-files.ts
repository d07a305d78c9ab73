// Which files Grep opens.

import { listFiles, type MountedFile, relativeTo } from "../files/mounts.ts";
import type { GlobPattern } from "../text/glob-pattern.ts";
import type { GrepResultLimits, Skipped } from "./grep-result.ts";
import type { Pace } from "./pace.ts";
import type { ToolEnv } from "./sandbox.ts";

/** The files to open, in the order of their paths; counts in `skipped` those that are left out. */
export async function grepFiles(
  env: ToolEnv,
  path: string,
  filter: GlobPattern | undefined,
  limits: GrepResultLimits,
  skipped: Skipped,
  pace: Pace,
  signal: AbortSignal,
): Promise<{ files: MountedFile[]; visited: number }> {
  const files: MountedFile[] = [];
  let bytes = 0;
  let visited = 0;
  for await (const file of filesAt(env, path, limits.entries + 1)) {
    visited += 1;
    if (visited > limits.entries) {
      skipped.unlisted = true;
      break;
    }
    if (filter?.status === "compiled") {
      const names = namesOf(path, file);
      const pausing = pace.before(filter.steps(names));
      if (pausing) await pausing;
      if (signal.aborted || pace.exhausted) {
        skipped.exhausted = pace.exhausted;
        break;
      }
      if (!names.some((name) => filter.matches(name))) {
        if (names.some((name) => filter.isTooLong(name))) skipped.longPaths += 1;
        continue;
      }
    }
    if (file.entry.size > limits.fileBytes) skipped.tooLarge += 1;
    else if (files.length >= limits.files || bytes + file.entry.size > limits.totalBytes) {
      skipped.overLimit += 1;
    } else {
      bytes += file.entry.size;
      files.push(file);
    }
  }
  return { files, visited };
}

/** The file that `path` names, if there is one, and all files below it. */
async function* filesAt(env: ToolEnv, path: string, limit: number): AsyncGenerator<MountedFile> {
  const resolved = env.mounts.resolve(path);
  if (resolved.status === "mounted" && resolved.relative !== "") {
    const { mount, relative } = resolved;
    const entry = await mount.store.head(relative);
    if (entry !== undefined) yield { path, mount, relative, entry };
  }
  yield* listFiles(env.mounts, path, limit);
}

/** The paths that a glob is matched with. */
function namesOf(base: string, { path, relative }: MountedFile): string[] {
  return [...new Set([relativeTo(base, path), relative, path.slice(1)])];
}
