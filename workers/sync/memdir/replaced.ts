// A rename by writing: a new file that says which one it replaces is that memory under another name, with
// its id and its history.

import type { WriteRequest } from "../../../src/platform/objects/memdir-rpc.ts";
import { INDEX_FILE } from "../../../src/shared/memdir/entrypoint.ts";
import { canonicalRelative } from "../../../src/shared/safety/path.ts";
import type { Directory } from "./directory.ts";
import type { Head } from "./heads.ts";
import { headAt } from "./heads.ts";
import { entryOf } from "./parsed.ts";

/**
 * The memory that a session's new file replaces, by a line "replaces: old.md" in its frontmatter; or why
 * that cannot be. Undefined for one that replaces none. What comes from elsewhere is stored as it is.
 */
export function replacedBy(
  dir: Directory,
  { path, bytes, actor }: Pick<WriteRequest, "path" | "bytes" | "actor">,
): { head: Head } | { problem: string } | undefined {
  if (actor.type !== "session" || path === INDEX_FILE) return undefined;
  const { replaces } = entryOf(bytes);
  if (replaces === undefined) return undefined;
  const named = canonicalRelative(replaces);
  const head =
    named.status === "ok" && named.path !== INDEX_FILE ? headAt(dir.sql, named.path) : undefined;
  if (head) return { head };
  return {
    problem: `Cannot write ${path}: it says that it replaces "${replaces}", and there is no such memory. Name the file as its line in the index does, or leave that line out`,
  };
}
