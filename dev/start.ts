// `npm start`: the service with its page on this machine, and a model where no key is given.

import { createServer } from "node:net";
import { join } from "node:path";
import { passedVariables, variablesOf } from "../src/platform/variables.ts";
import { signToken } from "./sign-token.ts";
import { authSecret, lockState, openState, saveToken } from "./state.ts";

const open: { close(): Promise<void> }[] = [];
let stopping = false;

process.on("SIGINT", stop);
process.on("SIGTERM", stop);
// The launcher is gone: nobody would stop us any more.
process.on("disconnect", stop);

try {
  const root = join(import.meta.dirname, "..");
  const port = portOf(process.env.PORT);
  const directory = openState(process.env, root);
  const secret = authSecret(process.env, directory);
  await refuseTakenPort(port);
  const release = lockState(directory);
  // However it ends: the toolchain has signal handlers of its own, which leave at once.
  process.once("exit", release);
  const variables: Record<string, string> = {
    ...passedVariables(process.env),
    AUTH_SECRET: secret,
  };
  if (!variables.ANTHROPIC_API_KEY) {
    if (variables.ANTHROPIC_BASE_URL) {
      throw new Error(
        "ANTHROPIC_BASE_URL is set and ANTHROPIC_API_KEY is not: a model's address needs its key, so set the key too or unset the address",
      );
    }
    const { serveFakeModel } = await import("./fake-model/serve.ts");
    const { createFakeModel } = await import("./fake-model/fake-model.ts");
    const model = await serveFakeModel(createFakeModel({ chunkDelayMs: 5 }), { port: 0 });
    open.push(model);
    variables.ANTHROPIC_BASE_URL = model.url;
    variables.ANTHROPIC_API_KEY = "demo-model";
    console.log(
      "No ANTHROPIC_API_KEY: the demo model answers by fixed rules instead of a real one.",
    );
  }
  variablesOf(variables);
  // The toolchain takes a second or two to load: say what is wrong before it.
  const { startService } = await import("./service.ts");
  const service = await startService({ port, directory, variables });
  open.push(service);
  const claims = { org: "dev", user: "dev", role: "admin", repos: ["*"] } as const;
  const token = await signToken(secret, claims, process.env);
  saveToken(directory, token);
  console.log(`Memdir is ready: ${service.url} token: ${token}`);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
  await stop();
}

async function stop(): Promise<void> {
  if (stopping) return;
  stopping = true;
  // A second Ctrl-C, or a close that hangs, must not keep the terminal.
  setTimeout(() => process.exit(1), 5_000).unref();
  for (const part of open.toReversed()) await part.close().catch(() => {});
  process.exit(process.exitCode ?? 0);
}

function portOf(text: string | undefined): number {
  if (!text) return 8787;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new Error(`PORT "${text}" is not a port: use a whole number from 0 to 65535`);
}

/** The runtime takes another port in silence where something uses this one; a client would not find it. */
function refuseTakenPort(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", () =>
      reject(new Error(`Port ${port} is in use: stop what uses it or set PORT to another one`)),
    );
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve()));
  });
}
