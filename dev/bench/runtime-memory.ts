// What the local runtime's processes hold, seen from outside (Linux), and the heap of our script.

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import * as z from "zod";

/** A collection takes some milliseconds; this long only where the inspector does not answer. */
const INSPECTOR_MS = 30_000;

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
export async function usedHeap(inspector: URL, wake: () => Promise<unknown>): Promise<number> {
  // Wrangler wants an origin. Node's WebSocket takes headers, the DOM's type does not know them.
  const socket: WebSocket = Reflect.construct(WebSocket, [
    new URL("/ws", inspector),
    { headers: { Origin: "http://localhost" } },
  ]);
  try {
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = () =>
        reject(new Error(`The inspector at ${inspector} is not to be reached`));
    });
    // It collects when the script next runs.
    const collected = ask(socket, 1, "HeapProfiler.collectGarbage");
    await wake();
    await collected;
    const usage = await ask(socket, 2, "Runtime.getHeapUsage");
    return z.object({ result: z.object({ usedSize: z.number() }) }).parse(usage).result.usedSize;
  } finally {
    socket.close();
  }
}

function ask(socket: WebSocket, id: number, method: string): Promise<unknown> {
  const answer = new Promise<unknown>((resolve, reject) => {
    const signal = AbortSignal.timeout(INSPECTOR_MS);
    const late = () => reject(new Error(`${method}: no answer within ${INSPECTOR_MS / 1000} s`));
    signal.addEventListener("abort", late);
    socket.addEventListener("message", ({ data }) => {
      const message: unknown = JSON.parse(String(data));
      if (z.object({ id: z.literal(id) }).safeParse(message).success) resolve(message);
    });
  });
  socket.send(JSON.stringify({ id, method }));
  return answer;
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
