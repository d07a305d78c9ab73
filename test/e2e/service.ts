// The whole service in the local runtime, with the fake model behind a real HTTP server and the
// official SDK as its client.

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { afterAll } from "vitest";
import { createTestHarness } from "wrangler";
import {
  createFakeModel,
  type FakeModel,
  type FakeModelOptions,
} from "../../dev/fake-model/fake-model.ts";
import { type Served, serveFakeModel } from "../../dev/fake-model/serve.ts";
import { signToken, type TokenClaims } from "../../dev/sign-token.ts";

export type Harness = ReturnType<typeof createTestHarness>;
export type SessionEvent = Anthropic.Beta.Sessions.BetaManagedAgentsStreamSessionEvents & {
  seq?: number;
  turn_id?: string;
};

export interface TestService {
  url: string;
  /** The tenant of its tokens that name none. */
  org: string;
  harness: Harness;
  model: FakeModel;
  modelServer: Served;
  token(claims?: Partial<TokenClaims>): Promise<string>;
  client(claims?: Partial<TokenClaims>): Promise<Anthropic>;
  /** Signs its tokens. */
  secret: string;
  close(): Promise<void>;
}

/** What tests use of the service's real bucket; its own type is not for Node. */
export interface Bucket {
  list(options: { prefix?: string; limit?: number; cursor?: string }): Promise<{
    objects: { key: string; etag: string }[];
    truncated: boolean;
    cursor?: string;
  }>;
  get(key: string): Promise<{ text(): Promise<string> } | null>;
  put(key: string, value: string): Promise<unknown>;
}

/** Variables of a service whose tests are about something else than the work after a turn. */
export const NO_BACKGROUND = { EXTRACTION_EVERY_TURNS: "0", NOTES_FIRST_TOKENS: "1000000000" };

const root = join(import.meta.dirname, "..", "..");

/**
 * `vars` are the service's variables; the model has the window that they name. `configPath` names
 * another worker than the service as it is deployed.
 */
export async function startTestService(
  vars: Record<string, string> = {},
  options: FakeModelOptions = {},
  configPath = "wrangler.toml",
): Promise<TestService> {
  const window = vars.CONTEXT_WINDOW_TOKENS;
  const model = createFakeModel({
    ...options,
    contextTokens: window === undefined ? options.contextTokens : Number(window),
  });
  const modelServer = await serveFakeModel(model, { port: 0 });
  const secret = randomUUID() + randomUUID();
  const harness = createTestHarness({
    root,
    workers: [
      {
        configPath,
        ...(process.env.MEMDIR_BUILT && configPath === "wrangler.toml"
          ? { prebuiltWorkerDir: process.env.MEMDIR_BUILT }
          : {}),
        vars: {
          ANTHROPIC_BASE_URL: modelServer.url,
          ANTHROPIC_API_KEY: "demo-model",
          AUTH_SECRET: secret,
          ...vars,
        },
      },
    ],
  });
  const { url } = await harness.listen();
  const address = url.href.replace(/\/$/, "");
  const service = {
    url: address,
    harness,
    model,
    modelServer,
    async close() {
      await harness.close();
      await modelServer.close();
    },
  };
  return { ...service, secret, ...tenantOf(address, secret, "acme") };
}

function tenantOf(
  address: string,
  secret: string,
  org: string,
): Pick<TestService, "org" | "token" | "client"> {
  const token = (claims: Partial<TokenClaims> = {}) =>
    signToken(secret, { org, user: "ann", role: "member", repos: [], ...claims });
  return {
    org,
    token,
    client: async (claims) =>
      new Anthropic({ apiKey: await token(claims), baseURL: address, maxRetries: 0 }),
  };
}

let shared: Promise<TestService> | undefined;
let tenants = 0;

/**
 * A service with `NO_BACKGROUND` that the test files of a worker have in common, each as a tenant of
 * its own. It ends with the worker. For files that hand each of their answers to one session, since
 * what waits in the model's script goes with the file before.
 */
export async function sharedService(): Promise<TestService> {
  shared ??= startTestService(NO_BACKGROUND);
  const service = await shared;
  service.model.reset();
  tenants += 1;
  return { ...service, ...tenantOf(service.url, service.secret, `acme-${tenants}`) };
}

/** The service of a test file, from its first line until after its last test. */
export async function serviceOfFile(
  vars: Record<string, string> = {},
  options: FakeModelOptions = {},
): Promise<TestService> {
  const service = await startTestService(vars, options);
  afterAll(() => service.close());
  return service;
}

/** The bucket behind the service, for what no endpoint shows or can bring about. */
export async function bucketOf({ harness }: TestService): Promise<Bucket> {
  return (await harness.getWorker<{ FILES: Bucket }>().getEnv()).FILES;
}

/** A `user.message` event. */
export function say(text: string) {
  return { type: "user.message" as const, content: [{ type: "text" as const, text }] };
}

/** A new session in a workspace of its own, unless one is named. */
export async function newSession(client: Anthropic, workspace = `w-${randomUUID().slice(0, 8)}`) {
  const session = await client.beta.sessions.create({
    agent: "default",
    environment_id: workspace,
  });
  return session.id;
}

/** Sends a message and collects the stream until the session is idle. */
export async function turn(client: Anthropic, id: string, text: string): Promise<SessionEvent[]> {
  const stream = await client.beta.sessions.events.stream(id);
  await client.beta.sessions.events.send(id, { events: [say(text)] });
  return untilIdle(stream);
}

/** Everything up to and with `session.status_idle`. */
export async function untilIdle(stream: AsyncIterable<SessionEvent>): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const event of stream) {
    events.push(event);
    if (event.type === "session.status_idle") break;
  }
  return events;
}

/** All stored events of a session. */
export async function stored(client: Anthropic, id: string): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const event of client.beta.sessions.events.list(id)) events.push(event);
  return events;
}

/** The texts of the agent's messages, in order. */
export function answers(events: readonly SessionEvent[]): string[] {
  return events.flatMap((event) =>
    event.type === "agent.message"
      ? [event.content.map((block) => ("text" in block ? block.text : "")).join("")]
      : [],
  );
}

export function typesOf(events: readonly SessionEvent[]): string[] {
  return events.map((event) => event.type);
}

/** Waits until a condition holds; fails after some seconds with what was waited for. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  ms = 20_000,
): Promise<void> {
  const end = Date.now() + ms;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`It did not come to pass: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** A session's events from its first on, as they come, until they hold what is waited for. */
export async function eventsUntil(
  client: Anthropic,
  id: string,
  what: string,
  holds: (events: readonly SessionEvent[]) => boolean,
  ms = 20_000,
): Promise<SessionEvent[]> {
  const stream = await client.beta.sessions.events.stream(id, undefined, {
    headers: { "Last-Event-ID": "0" },
  });
  const late = setTimeout(() => stream.controller.abort(), ms);
  const events: SessionEvent[] = [];
  try {
    for await (const event of stream) {
      events.push(event);
      if (holds(events)) return events;
    }
  } finally {
    clearTimeout(late);
  }
  throw new Error(`It did not come to pass: ${what}`);
}

/** The id of a stored event; previews have none. */
export function idOf(event: SessionEvent | undefined): string {
  return event && "id" in event && typeof event.id === "string" ? event.id : "";
}

/** The messages of each request of a session's own conversation, as the model's server got them. */
export function sentMessages(model: FakeModel, session: string): Anthropic.MessageParam[][] {
  return model.requests
    .filter((request) => request.session === session && request.purpose === "main")
    .map((request) => (request.body as { messages: Anthropic.MessageParam[] }).messages);
}
