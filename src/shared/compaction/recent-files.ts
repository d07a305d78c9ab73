import { canonicalPath } from "../safety/path.ts";
import type { Message } from "../thread/messages.ts";
import { toolCallsOf } from "../thread/messages.ts";

/** Tools whose call means that the agent is working with a file. */
const FILE_TOOLS = new Set(["Read", "Write", "Edit"]);

/**
 * Canonical paths of the files that the agent used in these messages, the newest first, without those
 * that a later call deleted.
 */
export function recentFiles(messages: readonly Message[]): string[] {
  const deleted = new Set<string>();
  const found = new Set<string>();
  for (const message of messages.toReversed()) {
    for (const { name, input } of toolCallsOf(message).toReversed()) {
      if (typeof input.file_path !== "string") continue;
      const canonical = canonicalPath(input.file_path);
      if (canonical.status === "refused") continue;
      const { path } = canonical;
      if (name === "Delete" && !found.has(path)) deleted.add(path);
      if (FILE_TOOLS.has(name) && !deleted.has(path)) found.add(path);
    }
  }
  return [...found];
}
