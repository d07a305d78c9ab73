// The service on this machine: the local runtime with real storage below one folder.

import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { unstable_startWorker as startWorker } from "wrangler";

export interface ServiceOptions {
  port: number;
  /** Folder of the storage. */
  directory: string;
  /** Variables and secrets of the script. */
  variables: Record<string, string>;
  /** Opens the runtime's inspector, on a free port of this machine. */
  inspector?: boolean;
}

export interface Service {
  url: string;
  /** Only where the options ask for it. */
  inspectorUrl: URL | undefined;
  close(): Promise<void>;
}

const root = join(import.meta.dirname, "..");

/** A start takes some seconds; this long only where something is broken. */
const START_MS = 45_000;

/** Starts the service and waits until it answers `/health`. Throws an `Error` with one clear line. */
export async function startService(options: ServiceOptions): Promise<Service> {
  await buildPage();
  const bindings = Object.fromEntries(
    Object.entries(options.variables).map(([name, value]) => [
      name,
      { type: "plain_text" as const, value },
    ]),
  );
  const built = process.env.MEMDIR_BUILT;
  const worker = await startWorker({
    config: join(root, "wrangler.toml"),
    // `npm test` has bundled the script once for all of its services.
    ...(built ? { entrypoint: join(built, "main.js"), build: { bundle: false } } : {}),
    bindings,
    dev: {
      server: { hostname: "127.0.0.1", port: options.port },
      inspector: options.inspector ? { hostname: "127.0.0.1", port: 0 } : false,
      liveReload: false,
      watch: false,
      persist: join(options.directory, "storage"),
      logLevel: "warn",
      registry: undefined,
    },
  });
  await soon(worker.ready, `The local runtime did not start with ${options.directory}`);
  const url = String(await worker.url).replace(/\/$/, "");
  const health = await soon(
    fetch(`${url}/health`),
    `The service does not answer with ${options.directory}`,
  );
  if (!health.ok) {
    await worker.dispose();
    throw new Error(`The service does not work: ${await errorMessage(health)}`);
  }
  return { url, inspectorUrl: await worker.inspectorUrl, close: () => worker.dispose() };
}

/** The local runtime says nothing about damaged storage: nobody should wait for it for ever. */
async function soon<T>(work: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = `${what} within ${START_MS / 1000} s; its storage may be damaged: remove it or set STATE_DIR to another folder`;
    timer = setTimeout(() => reject(new Error(message)), START_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

async function errorMessage(response: Response): Promise<string> {
  const body: unknown = await response.json().catch(() => undefined);
  const error = typeof body === "object" && body && "error" in body ? body.error : undefined;
  const known =
    typeof error === "object" && error && "message" in error ? error.message : undefined;
  return typeof known === "string" ? known : `it answers ${response.status}`;
}

/** Builds the page where it is missing or older than its sources. */
export async function buildPage(): Promise<void> {
  const page = join(root, "web", "dist", "index.html");
  const built = existsSync(page) ? statSync(page).mtimeMs : 0;
  if (built > newest(join(root, "web"))) return;
  // Only who has to build waits for it to load.
  const { build } = await import("vite");
  await build({
    root: join(root, "web"),
    configFile: join(root, "web", "vite.config.ts"),
    logLevel: "error",
  });
}

function newest(folder: string): number {
  let time = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === "dist") continue;
    const path = join(folder, entry.name);
    time = Math.max(time, entry.isDirectory() ? newest(path) : statSync(path).mtimeMs);
  }
  return time;
}
