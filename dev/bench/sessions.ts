import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { startService } from "../service.ts";
import { signToken } from "../sign-token.ts";
import { serveStandIn } from "../stand-in-model/serve.ts";
import { createStandIn } from "../stand-in-model/stand-in.ts";

const COUNTS = [1, 200, 200, 200, 200];
/** An object is dropped from memory some ten seconds after its last alarm; the heap shrinks later. */
const REST_MS = 45_000;

/** So many sessions at once, each with one turn: time to idle, and what the runtime's memory does. */
export async function benchSessions(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "memdir-bench-"));
  const model = await serveStandIn(createStandIn({ recordLimit: 1 }), { port: 0 });
  const secret = randomUUID() + randomUUID();
  const service = await startService({
    port: 0,
    directory,
    variables: {
      AUTH_SECRET: secret,
      ANTHROPIC_API_KEY: "stand-in",
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
  console.log(`start: ${workerdMegabytes()} MB of workerd`);
  for (const count of COUNTS) {
    const from = performance.now();
    const times = await Promise.all(Array.from({ length: count }, () => oneTurn(client)));
    const all = performance.now() - from;
    const sorted = times.toSorted((a, b) => a - b);
    const at = (share: number) => Math.round(sorted[Math.floor((count - 1) * share)] ?? 0);
    await new Promise((resolve) => setTimeout(resolve, REST_MS));
    console.log(
      `${count} sessions: all answered in ${Math.round(all)} ms; a turn ${at(0.5)} ms median, ${at(1)} ms most; ${workerdMegabytes()} MB of workerd after a rest`,
    );
  }
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

/** Resident memory of every workerd below this process. */
function workerdMegabytes(): number {
  const rows = execFileSync("ps", ["-eo", "pid=,ppid=,rss=,comm="], { encoding: "utf8" })
    .split("\n")
    .map((line) => line.trim().split(/\s+/));
  const ours = new Set([String(process.pid)]);
  for (let size = 0; size !== ours.size; ) {
    size = ours.size;
    for (const [pid = "", parent = ""] of rows) if (ours.has(parent)) ours.add(pid);
  }
  const kilobytes = rows
    .filter(([pid = "", , , name]) => ours.has(pid) && name === "workerd")
    .reduce((sum, [, , rss]) => sum + Number(rss), 0);
  return Math.round(kilobytes / 1024);
}
