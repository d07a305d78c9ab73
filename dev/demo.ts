// `npm run demo`: the whole story in the terminal. Exits 0 only if the second session knew what the
// user told the first one.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { createFakeModel } from "./fake-model/fake-model.ts";
import { serveFakeModel } from "./fake-model/serve.ts";
import type { Service } from "./service.ts";
import { startService } from "./service.ts";
import { signToken } from "./sign-token.ts";

type Event = Anthropic.Beta.Sessions.BetaManagedAgentsStreamSessionEvents;

const FACT = "our staging server is staging.acme.example";
const QUESTION = "What is the address of our staging server?";
const PROOF = "staging.acme.example";
const WORKSPACE = "demo";

const started = performance.now();
const open: { close(): Promise<void> }[] = [];
const directory = mkdtempSync(join(tmpdir(), "memdir-demo-"));
let knew = false;
process.on("disconnect", () => process.exit(1));

try {
  const { client, url } = await start();
  tell(`The service runs at ${url}, with empty storage.`);

  tell("\n1. A first session is told something.");
  const first = await newSession(client);
  await converse(client, first, `Please remember that ${FACT}.`);

  tell("\n   And something in passing, that nobody asks it to remember.");
  await converse(client, first, "I prefer short answers.");
  tell("   The session ends: what is worth it is saved before, in the background.");
  await client.beta.sessions.archive(first);

  tell("\n2. It lies in R2, as files that a person can read.");
  const directoryName = await memoryDirectory(client, first);
  for (const [key, text] of await storedFiles(url)) {
    tell(`   ${key}`);
    for (const line of text.trimEnd().split("\n")) tell(`     │ ${line}`);
  }
  tell(`   The agent knows this place as ${directoryName}/`);

  tell("\n3. A new session of the same project knows nothing of that conversation. It is asked.");
  const second = await newSession(client);
  const answer = await converse(client, second, QUESTION);
  knew = answer.includes(PROOF);
  tell(
    knew ? "\nThe second session knew." : "\nThe second session did not know: this is a defect.",
  );
  tell(`All of it took ${seconds(started)}.`);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
} finally {
  for (const part of open.toReversed()) await part.close().catch(() => {});
  rmSync(directory, { recursive: true, force: true });
  process.exit(knew ? 0 : 1);
}

async function start(): Promise<{ client: Anthropic; url: string }> {
  const variables: Record<string, string> = {
    AUTH_SECRET: "demo".repeat(10),
    // The first answer waits for what the recall finds.
    RECALL_WAIT_MS: "2000",
  };
  const key = process.env.ANTHROPIC_API_KEY;
  if (key) {
    variables.ANTHROPIC_API_KEY = key;
    if (process.env.ANTHROPIC_BASE_URL)
      variables.ANTHROPIC_BASE_URL = process.env.ANTHROPIC_BASE_URL;
    if (process.env.MODEL) variables.MODEL = process.env.MODEL;
    tell("A real model answers (ANTHROPIC_API_KEY is set).");
  } else {
    const model = await serveFakeModel(createFakeModel({ chunkDelayMs: 5 }), { port: 0 });
    open.push(model);
    variables.ANTHROPIC_API_KEY = "demo-model";
    variables.ANTHROPIC_BASE_URL = model.url;
    tell("No ANTHROPIC_API_KEY: the demo model answers by fixed rules instead of a real one.");
  }
  const service: Service = await startService({ port: 0, directory, variables });
  open.push(service);
  const claims = { org: "demo", user: "demo", role: "admin", repos: [] } as const;
  const apiKey = await signToken(variables.AUTH_SECRET ?? "", claims);
  return { client: new Anthropic({ apiKey, baseURL: service.url }), url: service.url };
}

async function newSession(client: Anthropic): Promise<string> {
  const session = await client.beta.sessions.create({
    agent: "default",
    environment_id: WORKSPACE,
  });
  return session.id;
}

/** Says something, shows the stream, gives back what the agent answered. */
async function converse(client: Anthropic, id: string, text: string): Promise<string> {
  const from = performance.now();
  let firstWord: number | undefined;
  let tokens = "";
  let answer = "";
  const stream = await client.beta.sessions.events.stream(id, { event_deltas: ["agent.message"] });
  tell(`   you    ${text}`);
  await client.beta.sessions.events.send(id, {
    events: [{ type: "user.message", content: [{ type: "text", text }] }],
  });
  for await (const event of stream) {
    if (event.type === "event_delta") firstWord ??= performance.now() - from;
    if (event.type === "agent.message") answer += textOf(event);
    if (event.type === "session.usage") tokens = tokensOf(event);
    const line = lineOf(event);
    if (line) tell(`   ${line}`);
    if (event.type === "session.status_idle") break;
  }
  const word =
    firstWord === undefined ? "no words" : `first word after ${Math.round(firstWord)} ms`;
  tell(`   (${seconds(from)}, ${word}; ${tokens})`);
  return answer;
}

function lineOf(event: Event): string | undefined {
  // An event of ours, which the SDK's types do not know.
  if (String(event.type) === "memory.recalled") {
    const selected: unknown = Reflect.get(event, "selected");
    const paths = (Array.isArray(selected) ? selected : []).map((memory: unknown) =>
      String(Reflect.get(Object(memory), "path")),
    );
    return paths.length === 0 ? undefined : `recall ${paths.join(", ")}`;
  }
  switch (event.type) {
    case "agent.message":
      return `agent  ${textOf(event)}`;
    case "agent.tool_use":
      return `tool   ${event.name} ${String(event.input.file_path ?? event.input.pattern ?? "")}`;
    case "agent.tool_result":
      return event.is_error ? `tool   failed: ${JSON.stringify(event.content)}` : undefined;
    case "session.error":
      return `error  ${event.error.message}`;
    default:
      return undefined;
  }
}

function textOf(event: Anthropic.Beta.Sessions.BetaManagedAgentsAgentMessageEvent): string {
  return event.content.map((block) => ("text" in block ? block.text : "")).join("");
}

function tokensOf(event: Anthropic.Beta.Sessions.BetaManagedAgentsSessionUsageEvent): string {
  const { usage } = event;
  const written = usage.cache_creation?.ephemeral_5m_input_tokens ?? 0;
  return `tokens: ${usage.input_tokens} new, ${written} into the cache, ${usage.cache_read_input_tokens} from it, ${usage.output_tokens} out`;
}

async function memoryDirectory(client: Anthropic, id: string): Promise<string> {
  const session: unknown = await client.beta.sessions.retrieve(id);
  const memory: unknown = Reflect.get(Object(session), "auto_memory");
  return String(Reflect.get(Object(memory), "directory"));
}

/** Key and text of everything in the bucket, by the local runtime's own view of its storage. */
async function storedFiles(url: string): Promise<[string, string][]> {
  const bucket = `${url}/cdn-cgi/local/explorer/api/r2/buckets/memdir-files/objects`;
  const list: unknown = await (await fetch(bucket)).json();
  const result: unknown = Reflect.get(Object(list), "result");
  const objects: unknown[] = Array.isArray(result) ? result : [];
  const keys = objects.map((object) => String(Reflect.get(Object(object), "key")));
  const files: [string, string][] = [];
  for (const key of keys) {
    const path = key.split("/").map(encodeURIComponent).join("/");
    files.push([
      key,
      await (await fetch(`${url}/cdn-cgi/local/r2/public/memdir-files/${path}`)).text(),
    ]);
  }
  return files;
}

function seconds(from: number): string {
  return `${((performance.now() - from) / 1000).toFixed(1)} s`;
}

function tell(line: string): void {
  console.log(line);
}
