// What may be a memory directory. A refusal names the rule and comes before any storage call.

import type { PathRule } from "../safety/path.ts";
import { canonicalPath, canonicalRelative, isWithin, showPath } from "../safety/path.ts";

/** A user's home as the agent sees it: "~/mem" is "/home/mem". Whose it is, the mount table says. */
export const HOME = "/home";

export type MemoryPathRule = PathRule | "near_root" | "home" | "reserved";

export type MemoryPath =
  /** Canonical and absolute, without a final slash. */
  { status: "ok"; path: string } | { status: "refused"; rule: MemoryPathRule; message: string };

/** Components that a memory directory has at least: "/data" is too near the root. */
const LEAST_COMPONENTS = 2;

/**
 * The one form of a memory directory as a person or a variable writes it; "~/" is `HOME` and leads
 * strictly below it. On top of the rules of `safety/path.ts`: no root or near-root, no drive, no
 * other user's home, and nothing in the places of people (`~/.claude`, `/etc/claude-code`) and
 * projects (`/workspace`).
 */
export function memoryPath(raw: string): MemoryPath {
  return placeOf(raw, LEAST_COMPONENTS);
}

/**
 * The same for `REMOTE_MEMORY_DIR`, below which the directories of all projects lie: one component
 * ("/memory") is enough, since what is made from it has more.
 */
export function memoryBase(raw: string): MemoryPath {
  return placeOf(raw, 1);
}

function placeOf(raw: string, leastComponents: number): MemoryPath {
  // Before all else: the general rule would call it relative, which does not say what is wrong.
  if (/^[a-z]:/i.test(raw)) return refuse(raw, "drive", "it holds a drive letter");
  const absolute = expand(raw);
  if (absolute.status === "refused") return absolute;
  const { path } = absolute;
  const components = path.split("/").filter((part) => part !== "").length;
  if (components < leastComponents) {
    const least = leastComponents === 1 ? "a directory" : `${leastComponents} directories`;
    return refuse(raw, "near_root", `it must lie at least ${least} below the root`);
  }
  const reserved = ["/etc/claude-code", "/workspace", `${HOME}/.claude`];
  const place = reserved.find((each) => isWithin(each, path));
  if (place === undefined) return { status: "ok", path };
  return refuse(raw, "reserved", `memory cannot lie in ${place}; choose another directory`);
}

function expand(raw: string): MemoryPath {
  if (!raw.startsWith("~")) return canonicalPath(raw);
  if (raw !== "~" && !raw.startsWith("~/")) {
    return refuse(raw, "home", 'only "~/" and a directory behind it is expanded');
  }
  const below = canonicalRelative(raw.slice(2));
  if (below.status === "ok") return canonicalPath(`${HOME}/${below.path}`);
  if (below.rule === "empty") {
    return refuse(raw, "home", 'it is the home directory itself; name one below it ("~/memory")');
  }
  return { ...below, message: below.message.replace(showPath(raw.slice(2)), showPath(raw)) };
}

function refuse(raw: string, rule: MemoryPathRule, reason: string): MemoryPath {
  return { status: "refused", rule, message: `Cannot use path ${showPath(raw)}: ${reason}` };
}
