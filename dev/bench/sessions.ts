import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { createFakeModel } from "../fake-model/fake-model.ts";
import { serveFakeModel } from "../fake-model/serve.ts";
import type { Service } from "../service.ts";
import { startService } from "../service.ts";
import { signToken } from "../sign-token.ts";
import { runtimeMemory, usedHeap } from "./runtime-memory.ts";

const COUNTS = [1, 200, 200, 200, 200];
const REST_MS = 45_000;
/** A left stream keeps its object open for up to a minute or so: by then all databases are closed. */
const LAST_REST_MS = 100_000;
const MEGABYTE = 1024 * 1024;

/** So many sessions at once, each with one turn: time to idle, and what the runtime's memory does. */
export async function benchSessions(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "memdir-bench-"));
  const model = await serveFakeModel(createFakeModel({ recordLimit: 1 }), { port: 0 });
  const secret = randomUUID() + randomUUID();
  const service = await startService({
    port: 0,
    directory,
    inspector: true,
    variables: {
      AUTH_SECRET: secret,
      ANTHROPIC_API_KEY: "demo-model",
      ANTHROPIC_BASE_URL: model.url,
    },
  });
  const claims = { org: "bench", user: "bench", role: "member", repos: [] } as const;
  const client = new Anthropic({
    apiKey: await signToken(secret, claims),
    baseURL: service.url,
    maxRetries: 0,
    timeout: 120_000,
  });
  console.log(`start: ${await memoryOf(service)}`);
  for (const count of COUNTS) {
    const from = performance.now();
    const times = await Promise.all(Array.from({ length: count }, () => oneTurn(client)));
    const all = performance.now() - from;
    const sorted = times.toSorted((a, b) => a - b);
    const at = (share: number) => Math.round(sorted[Math.floor((count - 1) * share)] ?? 0);
    console.log(
      `${count} sessions: all answered in ${Math.round(all)} ms; a turn ${at(0.5)} ms median, ${at(1)} ms most`,
    );
    await rest(service, REST_MS);
  }
  await rest(service, LAST_REST_MS);
  await service.close();
  await model.close();
  rmSync(directory, { recursive: true, force: true });
}

/** Milliseconds from the message to idle. */
async function oneTurn(client: Anthropic): Promise<number> {
  const session = await client.beta.sessions.create({ agent: "default", environment_id: "bench" });
  const from = performance.now();
  await client.beta.sessions.events.send(session.id, {
    events: [{ type: "user.message", content: [{ type: "text", text: "hello" }] }],
  });
  const stream = await client.beta.sessions.events.stream(session.id, undefined, {
    headers: { "Last-Event-ID": "0" },
  });
  let answered = false;
  for await (const event of stream) {
    answered ||= event.type === "agent.message";
    if (event.type === "session.status_idle") break;
  }
  if (!answered) throw new Error(`Session ${session.id} was not answered`);
  return performance.now() - from;
}

async function rest(service: Service, ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
  console.log(`  after ${ms / 1000} s of rest: ${await memoryOf(service)}`);
}

/** The resident memory is read first: a collection gives some of it back. */
async function memoryOf({ url, inspectorUrl }: Service): Promise<string> {
  if (!inspectorUrl) throw new Error("The service was started without its inspector");
  const { service, databases, proxy } = runtimeMemory();
  const heap = await usedHeap(inspectorUrl, () => fetch(`${url}/health`));
  return `service ${megabytes(service)} MB with ${databases} databases open, its heap ${megabytes(heap)} MB after a collection; proxy ${megabytes(proxy)} MB`;
}

function megabytes(bytes: number): number {
  return Math.round(bytes / MEGABYTE);
}
