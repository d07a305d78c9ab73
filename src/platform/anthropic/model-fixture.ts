// A model on a real HTTP server on this machine, and how the tests call it.

import { afterAll, beforeAll, beforeEach, expect, vi } from "vitest";
import { createFakeModel } from "../../../dev/fake-model/fake-model.ts";
import type { Served } from "../../../dev/fake-model/serve.ts";
import { serveFakeModel } from "../../../dev/fake-model/serve.ts";
import type { Answer, ModelEvent, ModelFailure, ModelRequest } from "../../shared/loop/model.ts";
import type { Message } from "../../shared/thread/messages.ts";
import { createAnthropicModel } from "./model.ts";

export const KEY = ["sk", "ant", "very", "secret"].join("-");
export const SECRET = "the PRIVATE content";
export const LONG = "A text that is long enough for several chunks, and for some more of them.";

/** Replaced at import: the SDK keeps a reference from its first client. */
export const logged = vi.spyOn(console, "error").mockImplementation(() => {});
export const fakeModel = createFakeModel();
let served: Served;
/** Where it listens, and what answers in place of the fake model for one test. */
export const server: {
  handle: ((request: Request) => Response | Promise<Response>) | undefined;
  url: string;
  /** What it was asked in this test. */
  held: Request[];
} = { handle: undefined, url: "", held: [] };

/** Starts the server for the tests of a file; to be called once at its top. */
export function withModelServer(): void {
  beforeAll(async () => {
    served = await serveFakeModel({
      handle: async (request) => {
        server.held.push(request);
        return (server.handle ?? fakeModel.handle)(request);
      },
    });
    server.url = served.url;
  });
  afterAll(() => served.close());
  beforeEach(() => {
    fakeModel.reset();
    server.handle = undefined;
    server.held = [];
  });
}

export const user = (text: string): Message => ({
  role: "user",
  content: [{ type: "text", text }],
});
export const tool = (name: string) => ({
  name,
  description: name,
  input_schema: { type: "object" },
});

export function request(messages: Message[] = [user(SECRET)], rest: Partial<ModelRequest> = {}) {
  return {
    purpose: "main" as const,
    sessionId: "sesn_1",
    model: "claude-sonnet-5-5",
    maxTokens: 2000,
    system: ["Be brief."],
    tools: [tool("Read"), tool("Write")],
    messages,
    ...rest,
  };
}

export interface Reply {
  events: ModelEvent[];
  outcome: Answer | ModelFailure;
}

interface AskOptions {
  idleMs?: number;
  answerBytes?: number;
  signal?: AbortSignal;
  baseUrl?: string;
  /** Called with each event before the next one is read. */
  on?: (event: ModelEvent) => void;
}

export async function ask(
  asked: ModelRequest = request(),
  options: AskOptions = {},
): Promise<Reply> {
  const { idleMs = 5_000, answerBytes = 1_500_000, baseUrl = served.url, on } = options;
  const model = createAnthropicModel({ apiKey: KEY, baseUrl, idleMs, answerBytes });
  const stream = model.stream(asked, options.signal ?? new AbortController().signal);
  const events: ModelEvent[] = [];
  for (let next = await stream.next(); ; next = await stream.next()) {
    if (next.done) return { events, outcome: next.value };
    events.push(next.value);
    on?.(next.value);
  }
}

export function answered({ outcome }: Reply): Answer {
  if (outcome.status === "failed") throw new Error(`${outcome.kind}: ${outcome.message}`);
  return outcome;
}

/** A failure, which must tell nothing that is nobody's business. */
export function failed({ outcome }: Reply): ModelFailure {
  if (outcome.status === "answered") throw new Error("It answered");
  for (const hidden of [KEY, "127.0.0.1", String(served.port), "PRIVATE", "http"]) {
    expect(JSON.stringify(outcome)).not.toContain(hidden);
  }
  return outcome;
}

export const textOf = (events: ModelEvent[]) =>
  events.map((event) => (event.type === "text" ? event.text : "")).join("");
