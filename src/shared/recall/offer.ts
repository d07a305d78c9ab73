import { SCAN_FILES } from "../limits/memory.ts";
import { type Candidate, isCandidate } from "./list.ts";

/** A candidate with what tells it under any name. */
export interface Scanned extends Candidate {
  /** `mem_…`; stays the same through changes and renames. */
  id: string;
  /** Of its content, as a reader of the file knows it. */
  sha256: string;
}

/** What the conversation holds already. */
export interface Held {
  /** Ids of memories that were injected before. */
  shown: ReadonlySet<string>;
  /** Paths that the model read or wrote itself. */
  read: ReadonlySet<string>;
  /** Hashes of what it read or wrote whole: a memory is known by another name too. */
  readContents: ReadonlySet<string>;
}

interface Offer {
  offered: Scanned[];
  dropped: { path: string; reason: "already_shown" | "already_read" }[];
}

/**
 * The memories of a scan that may be chosen: those that the conversation does not contain yet, newest
 * first, at most `most`. A time in the future counts as now, a missing one as the oldest; the path
 * decides between equal times.
 */
export function offer(
  scanned: readonly Scanned[],
  { shown, read, readContents }: Held,
  now: number,
  most: number = SCAN_FILES,
): Offer {
  const dropped: Offer["dropped"] = [];
  const offered: Scanned[] = [];
  for (const candidate of new Map(scanned.map((each) => [each.path, each])).values()) {
    const { path, id, sha256 } = candidate;
    if (!isCandidate(path)) continue;
    if (shown.has(id)) dropped.push({ path, reason: "already_shown" });
    else if (read.has(path) || readContents.has(sha256)) {
      dropped.push({ path, reason: "already_read" });
    } else offered.push(candidate);
  }
  const changed = ({ updatedAt }: Candidate) => (updatedAt > 0 ? Math.min(updatedAt, now) : 0);
  offered.sort((a, b) => changed(b) - changed(a) || (a.path < b.path ? -1 : 1));
  return { offered: offered.slice(0, most), dropped };
}
