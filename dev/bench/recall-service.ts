// What a bench needs of a service: one whose calls to R2 and to other objects are counted, a model that
// answers as it is told, projects full of memories, and turns whose moments are known.

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { createTestHarness } from "wrangler";
import * as z from "zod";
import { createFakeModel, type ModelCall } from "../fake-model/fake-model.ts";
import type { RecordedRequest } from "../fake-model/record.ts";
import type { ScriptStep } from "../fake-model/script.ts";
import { serveFakeModel } from "../fake-model/serve.ts";
import { signToken } from "../sign-token.ts";

const OWNER = { org: "bench", user: "bench", role: "member", repos: [] } as const;
/** Files in one call to the worker. */
const FILES_AT_ONCE = 500;

const shape = z.object({
  id: z.string(),
  auto_memory: z.object({ directory: z.string().nullish() }).nullish(),
});

export interface BenchService {
  /** How long each model takes to begin, in milliseconds, and how many of the listed it chooses. */
  model: { mainMs: number; recallMs: number; choose: number };
  /** The model's requests since the last call, oldest first. */
  requests(): RecordedRequest[];
  /** Calls since the last call: "<object> <R2 call> <kind of key>", "<object> asks <object> <method>". */
  calls(): Promise<Record<string, number>>;
  /** Puts so many memories into a workspace's project, and sources that they name. */
  fill(workspace: string, memories: number, sources?: number): Promise<void>;
  session(workspace: string, kind: "on" | "off" | "bare"): Promise<BenchSession>;
  close(): Promise<void>;
}

export interface BenchSession {
  id: string;
  /** One turn up to idle. */
  turn(text: string): Promise<Moments>;
  /** How many events of this type its turns have shown. */
  seen(type: string): number;
}

/** In milliseconds since the user's message was sent. */
export interface Moments {
  /** The model's server has the request. */
  asked: number;
  /** The client has the first piece of the answer. */
  shown: number;
  idle: number;
}

/** `reply` answers what it likes in place of the bench's own short answers. */
export async function startBenchService(
  variables: Record<string, string>,
  reply: (call: ModelCall) => ScriptStep | undefined = () => undefined,
): Promise<BenchService> {
  const model = { mainMs: 0, recallMs: 0, choose: 5 };
  const asked = new Map<string, number>();
  const window = variables.CONTEXT_WINDOW_TOKENS;
  const fakeModel = createFakeModel({
    recordLimit: 10_000,
    contextTokens: window === undefined ? undefined : Number(window),
    reply: (call) => {
      const { request, purpose } = call;
      const own = reply(call);
      if (own) return own;
      // The policy keeps notes.
      if (purpose === "session-notes") return undefined;
      // In pieces: what is said at once reaches the client only with the end of the turn.
      if (purpose !== "recall") {
        return { text: "It is noted for later.", delayMs: model.mainMs, chunkDelayMs: 20 };
      }
      const listed = [...JSON.stringify(request.messages).matchAll(/- \[project\] (\S+\.md) \(/g)];
      const selected_memories = listed.slice(0, model.choose).map(([, name]) => name);
      return { text: JSON.stringify({ selected_memories }), delayMs: model.recallMs };
    },
  });
  const server = await serveFakeModel({
    handle: (request) => {
      if (request.headers.get("x-memdir-purpose") === "main") {
        asked.set(request.headers.get("x-memdir-session") ?? "", performance.now());
      }
      return fakeModel.handle(request);
    },
  });
  const secret = randomUUID() + randomUUID();
  const harness = createTestHarness({
    workers: [
      {
        configPath: join(import.meta.dirname, "scan-worker", "counted-service.toml"),
        vars: {
          ANTHROPIC_BASE_URL: server.url,
          ANTHROPIC_API_KEY: "demo-model",
          AUTH_SECRET: secret,
          EXTRACTION_EVERY_TURNS: "0",
          NOTES_FIRST_TOKENS: "1000000000",
          ...variables,
        },
      },
    ],
  });
  const address = (await harness.listen()).url.href.replace(/\/$/, "");
  const client = new Anthropic({
    apiKey: await signToken(secret, OWNER),
    baseURL: address,
    maxRetries: 0,
    timeout: 300_000,
  });
  const ask = async (path: string, body?: unknown): Promise<unknown> => {
    const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const response = await fetch(`${address}/bench/${path}`, init);
    if (!response.ok) throw new Error(`/bench/${path} answered ${response.status}`);
    return response.json();
  };
  const create = async (workspace: string, bare = false) =>
    shape.parse(
      await client.beta.sessions.create({
        agent: "default",
        environment_id: workspace,
        metadata: bare ? { bare: "true" } : {},
      }),
    );

  return {
    model,
    requests: () => fakeModel.requests.splice(0),
    calls: async () => z.record(z.string(), z.number()).parse(await ask("calls")),
    async fill(workspace, memories, sources = 0) {
      const { auto_memory } = await create(workspace);
      const user = `t/${OWNER.org}/u/${OWNER.user}`;
      const files = [
        ...numbers(memories).map((n) => [
          `${user}${auto_memory?.directory}/${fileOf(n)}`,
          memory(n),
        ]),
        ...numbers(sources).map((n) => [`${user}/w/${workspace}/src/part-${n}.ts`, source(n)]),
      ];
      for (let n = 0; n < files.length; n += FILES_AT_ONCE) {
        await ask("files", files.slice(n, n + FILES_AT_ONCE));
      }
    },
    async session(workspace, kind) {
      const { id } = await create(workspace, kind === "bare");
      if (kind === "off") {
        const name = JSON.stringify([OWNER.org, OWNER.user, id]);
        await ask(`searched?name=${encodeURIComponent(name)}`);
      }
      const stream = await client.beta.sessions.events.stream(id, {
        event_deltas: ["agent.message"],
      });
      const events = stream[Symbol.asyncIterator]();
      const seen = new Map<string, number>();
      return {
        id,
        seen: (type) => seen.get(type) ?? 0,
        async turn(text) {
          const from = performance.now();
          const sent = client.beta.sessions.events.send(id, {
            events: [{ type: "user.message", content: [{ type: "text", text }] }],
          });
          let shown: number | undefined;
          for (let next = await events.next(); !next.done; next = await events.next()) {
            seen.set(next.value.type, (seen.get(next.value.type) ?? 0) + 1);
            if (next.value.type === "event_delta") shown ??= performance.now() - from;
            if (next.value.type === "session.status_idle") break;
          }
          const idle = performance.now() - from;
          await sent;
          if (shown === undefined) throw new Error(`Session ${id} was not answered`);
          return { asked: (asked.get(id) ?? 0) - from, shown, idle };
        },
      };
    },
    async close() {
      await harness.close();
      await server.close();
    },
  };
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n);
}

function fileOf(n: number): string {
  return `decision-${String(n).padStart(4, "0")}.md`;
}

/** Larger than what is shown of one memory. */
function memory(n: number): string {
  return `---
name: decision ${n}
description: why part ${n} of the release is built in two steps and who agrees to it
type: project
---

\`src/part-${n}.ts\` holds \`buildPart${n}()\`.
${"One more sentence about how this came to be and what to keep in mind.\n".repeat(80)}`;
}

function source(n: number): string {
  return `export function buildPart${n}(): number {\n  return ${n};\n}\n`;
}
