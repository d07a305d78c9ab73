// A worker of the benches in the local runtime, with its storage below a folder of its own: its address,
// its process and its inspector are known.

import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unstable_startWorker as startWorker } from "wrangler";
import { processBelow } from "./process-figures.ts";

export interface BenchWorker {
  url: string;
  inspectorUrl: URL | undefined;
  /** The process that runs the script, not the dev server's proxy in front of it. */
  pid: string;
  /** Its storage. */
  directory: string;
  /** Signs tokens for the service. */
  secret: string;
  close(): Promise<void>;
}

/**
 * Starts a worker by the name of its config file in `scan-worker/`. Its storage goes with it, unless
 * a folder is given for it.
 */
export async function startBenchWorker(
  config: string,
  variables: Record<string, string>,
  inspector = false,
  given?: string,
): Promise<BenchWorker> {
  const directory = given ?? mkdtempSync(join(tmpdir(), "memdir-bench-"));
  const secret = randomUUID() + randomUUID();
  const all = { ANTHROPIC_API_KEY: "demo-model", AUTH_SECRET: secret, ...variables };
  const bindings = Object.fromEntries(
    Object.entries(all).map(([name, value]) => [name, { type: "plain_text" as const, value }]),
  );
  const worker = await startWorker({
    config: join(import.meta.dirname, "scan-worker", config),
    bindings,
    dev: {
      server: { hostname: "127.0.0.1", port: 0 },
      inspector: inspector ? { hostname: "127.0.0.1", port: 0 } : false,
      liveReload: false,
      watch: false,
      persist: join(directory, "storage"),
      logLevel: "none",
      registry: undefined,
    },
  });
  await worker.ready;
  const url = String(await worker.url).replace(/\/$/, "");
  await (await fetch(`${url}/health`)).body?.cancel();
  return {
    url,
    inspectorUrl: await worker.inspectorUrl,
    pid: processBelow(directory),
    directory,
    secret,
    async close() {
      await worker.dispose();
      if (given === undefined) rmSync(directory, { recursive: true, force: true });
    },
  };
}
