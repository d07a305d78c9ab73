// What one process of the local runtime has taken, seen from outside (Linux).

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";

export interface ProcessFigures {
  /** CPU time so far, user and system, in milliseconds; the kernel counts in steps of 10. */
  cpuMs: number;
  /** Bytes that it made the disk write: pages that became dirty, each once until it is written. */
  writtenBytes: number;
  residentBytes: number;
  /** The most that was resident since `forgetPeak`. */
  peakBytes: number;
}

export function processFigures(pid: string): ProcessFigures {
  // Behind the name in parentheses: field 14 and 15 of proc(5).
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  return {
    cpuMs: 10 * (Number(fields[11]) + Number(fields[12])),
    writtenBytes: numberIn(`/proc/${pid}/io`, /^write_bytes: (\d+)/m),
    residentBytes: 1024 * numberIn(`/proc/${pid}/status`, /^VmRSS:\s+(\d+) kB/m),
    peakBytes: 1024 * numberIn(`/proc/${pid}/status`, /^VmHWM:\s+(\d+) kB/m),
  };
}

/** From now on the peak counts anew. */
export function forgetPeak(pid: string): void {
  // Source: proc(5), /proc/pid/clear_refs.
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
}

/** The runtime below this process that has files of this folder open. Throws where none has. */
export function processBelow(folder: string): string {
  const children = execFileSync("ps", ["-o", "pid=,comm=", "--ppid", String(process.pid)], {
    encoding: "utf8",
  })
    .split("\n")
    .map((line) => line.trim().split(/\s+/));
  const found = children.find(
    ([pid = "", name]) => name === "workerd" && opened(pid).some((path) => path.startsWith(folder)),
  );
  if (!found?.[0]) throw new Error(`No workerd below this process has a file of ${folder} open`);
  return found[0];
}

function opened(pid: string): string[] {
  const files = `/proc/${pid}/fd`;
  return readdirSync(files).flatMap((file) => {
    try {
      return [readlinkSync(`${files}/${file}`)];
    } catch {
      // Closed since the folder was listed.
      return [];
    }
  });
}

function numberIn(path: string, pattern: RegExp): number {
  return Number(pattern.exec(readFileSync(path, "utf8"))?.[1] ?? Number.NaN);
}
