import { SCAN_FILES } from "../limits/memory.ts";
import { type Candidate, isCandidate } from "./list.ts";

interface Offer {
  offered: Candidate[];
  dropped: { path: string; reason: "already_shown" | "already_read" }[];
}

/**
 * The memories of a scan that may be chosen: those that the conversation does not contain yet, newest
 * first, at most `most`. A time in the future counts as now, a missing one as the oldest; the path
 * decides between equal times. `shown`: injected before. `read`: read or written by the model itself.
 */
export function offer(
  scanned: readonly Candidate[],
  { shown, read }: { shown: ReadonlySet<string>; read: ReadonlySet<string> },
  now: number,
  most: number = SCAN_FILES,
): Offer {
  const dropped: Offer["dropped"] = [];
  const offered: Candidate[] = [];
  for (const candidate of new Map(scanned.map((each) => [each.path, each])).values()) {
    const { path } = candidate;
    if (!isCandidate(path)) continue;
    if (shown.has(path)) dropped.push({ path, reason: "already_shown" });
    else if (read.has(path)) dropped.push({ path, reason: "already_read" });
    else offered.push(candidate);
  }
  const changed = ({ updatedAt }: Candidate) => (updatedAt > 0 ? Math.min(updatedAt, now) : 0);
  offered.sort((a, b) => changed(b) - changed(a) || (a.path < b.path ? -1 : 1));
  return { offered: offered.slice(0, most), dropped };
}
