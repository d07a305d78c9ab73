// What the local runtime's processes hold, seen from outside (Linux), and the heap of our script.

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { openInspector } from "./inspector.ts";

export interface RuntimeMemory {
  /** Resident memory of the process that runs the service, in bytes. */
  service: number;
  /** Databases this process has open: one for each object in memory, and some of the runtime. */
  databases: number;
  /** Resident memory of the dev server's proxy in front of it, in bytes: nothing that is deployed. */
  proxy: number;
}

/** The processes below this one. Throws an `Error` where none of them is the service. */
export function runtimeMemory(): RuntimeMemory {
  const runtimes = runtimesBelow(process.pid)
    .map((row) => ({ ...row, databases: openDatabases(row.pid) }))
    // The proxy has one database of its own open, the service that of each kind of object.
    .toSorted((a, b) => b.databases - a.databases);
  const [service, ...proxies] = runtimes;
  if (!service?.databases) throw new Error("No workerd below this process has a database open");
  return {
    service: service.bytes,
    databases: service.databases,
    proxy: proxies.reduce((sum, row) => sum + row.bytes, 0),
  };
}

/** CPU time that the runtime's processes have taken so far, in milliseconds: user and system. */
export function runtimeCpu(): number {
  return runtimesBelow(process.pid).reduce((sum, { pid }) => {
    // Behind the name in parentheses: field 14 and 15 of proc(5), in ticks of 10 ms.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    return sum + 10 * (Number(fields[11]) + Number(fields[12]));
  }, 0);
}

/** Bytes the script's heap uses after a full collection; `wake` is any request to the script. */
export async function usedHeap(address: URL, wake: () => Promise<unknown>): Promise<number> {
  const inspector = await openInspector(address);
  try {
    await inspector.collect(wake);
    return await inspector.heap();
  } finally {
    inspector.close();
  }
}

function runtimesBelow(root: number): { pid: string; bytes: number }[] {
  const rows = execFileSync("ps", ["-eo", "pid=,ppid=,rss=,comm="], { encoding: "utf8" })
    .split("\n")
    .map((line) => line.trim().split(/\s+/));
  const ours = new Set([String(root)]);
  for (let size = 0; size !== ours.size; ) {
    size = ours.size;
    for (const [pid = "", parent = ""] of rows) if (ours.has(parent)) ours.add(pid);
  }
  return rows.flatMap(([pid = "", , rss, name]) =>
    ours.has(pid) && name === "workerd" ? [{ pid, bytes: Number(rss) * 1024 }] : [],
  );
}

function openDatabases(pid: string): number {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).filter((file) => target(`${folder}/${file}`).endsWith(".sqlite"))
    .length;
}

function target(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    // Closed since the folder was listed.
    return "";
  }
}
