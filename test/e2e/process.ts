// The service as a user starts it: a process group of its own, on a port and state of its own.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..");

export interface ServiceProcess {
  url: string;
  state: string;
  token(): string;
  /** What it printed. */
  output(): string;
  /** SIGKILL to the whole group, at once. */
  kill(): Promise<void>;
  /** The signal of Ctrl-C, and the end that follows. */
  interrupt(): Promise<number | null>;
  child: ChildProcess;
}

export function newState(): string {
  return mkdtempSync(join(tmpdir(), "memdir-e2e-"));
}

export function removeState(path: string): void {
  rmSync(path, { recursive: true, force: true });
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

/** Starts the service and waits for its line. Rejects with what it printed where it ends instead. */
export async function startProcess(
  state: string,
  port: number,
  environment: Record<string, string> = {},
): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [join(root, "dev", "run.mjs"), "dev/start.ts"], {
    cwd: root,
    detached: true,
    env: { ...process.env, PORT: String(port), STATE_DIR: state, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const collect = (data: Buffer) => {
    output += data.toString();
  };
  child.stdout?.on("data", collect);
  child.stderr?.on("data", collect);
  const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on("data", () => {
      if (output.includes("Memdir is ready")) resolve();
    });
    ended.then((code) => reject(new Error(`It ended with ${code}: ${output}`)));
  });
  return {
    url: `http://127.0.0.1:${port}`,
    state,
    child,
    token: () => readFileSync(join(state, "dev-token"), "utf8"),
    output: () => output,
    async kill() {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      await ended;
    },
    interrupt() {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGINT");
      return ended;
    },
  };
}
