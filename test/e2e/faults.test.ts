import { expect, test } from "vitest";
import type { ScriptStep } from "../../dev/fake-model/script.ts";
import {
  answers,
  NO_BACKGROUND,
  newSession,
  type SessionEvent,
  serviceOfFile,
  turn,
  typesOf,
} from "./service.ts";

const service = await serviceOfFile({ ...NO_BACKGROUND, MODEL_IDLE_MS: "4000" });
const client = await service.client();

const write = { name: "Write", input: { file_path: "/workspace/x/a.md", content: "half" } };

interface Fault {
  name: string;
  steps: ScriptStep[];
  /** Type and retry status of each `session.error`. */
  errors: [string, string][];
  stop: string;
}

const RETRIED: [string, string] = ["model_request_failed_error", "retrying"];
const OVER: [string, string] = ["model_request_failed_error", "exhausted"];

const FAULTS: Fault[] = [
  {
    name: "a rate limit with retry-after",
    steps: [{ fault: { type: "status", status: 429, retry_after: 1 } }],
    errors: [["model_rate_limited_error", "retrying"]],
    stop: "end_turn",
  },
  {
    name: "an overloaded model",
    steps: [{ fault: { type: "status", status: 529 }, times: 2 }],
    errors: [
      ["model_overloaded_error", "retrying"],
      ["model_overloaded_error", "retrying"],
    ],
    stop: "end_turn",
  },
  {
    name: "an error in the middle of the stream",
    steps: [{ text: "some words here", fault: { type: "stream_error", after_chunks: 2 } }],
    errors: [["model_overloaded_error", "retrying"]],
    stop: "end_turn",
  },
  {
    name: "a cut stream",
    steps: [{ tools: [write], fault: { type: "cut", after_chunks: 2 } }],
    errors: [RETRIED],
    stop: "end_turn",
  },
  {
    name: "a stream that ends too early",
    steps: [{ tools: [write], fault: { type: "end_early", after_chunks: 2 } }],
    errors: [RETRIED],
    stop: "end_turn",
  },
  {
    name: "a stall in the middle",
    steps: [{ text: "some words here", fault: { type: "stall", after_chunks: 1 } }],
    errors: [RETRIED],
    stop: "end_turn",
  },
  {
    name: "a stall before the headers",
    steps: [{ fault: { type: "stall_headers" } }],
    errors: [RETRIED],
    stop: "end_turn",
  },
  {
    name: "malformed tool input",
    steps: [{ tools: [write], fault: { type: "malformed_tool_json" } }],
    errors: [["unknown_error", "retrying"]],
    stop: "end_turn",
  },
  {
    name: "the token limit inside a tool call",
    steps: [{ tools: [write], fault: { type: "max_tokens" } }],
    errors: [RETRIED],
    stop: "end_turn",
  },
  {
    name: "the token limit again and again",
    steps: [{ text: "more and more", fault: { type: "max_tokens" }, times: 4 }],
    errors: [RETRIED, RETRIED, RETRIED, OVER],
    stop: "retries_exhausted",
  },
  {
    name: "a refusal",
    steps: [{ text: "no", fault: { type: "refusal" } }],
    errors: [OVER],
    stop: "refusal",
  },
  {
    name: "a full context window",
    steps: [{ text: "so far", fault: { type: "context_exceeded" } }],
    // It would go on behind a shorter conversation, and this one cannot be made any shorter.
    errors: [RETRIED, OVER],
    stop: "retries_exhausted",
  },
  {
    name: "an unknown reason to stop",
    steps: [{ tools: [write], fault: { type: "unknown_stop" } }],
    errors: [["unknown_error", "exhausted"]],
    stop: "retries_exhausted",
  },
  {
    name: "a request that is refused",
    steps: [{ fault: { type: "status", status: 400 } }],
    errors: [OVER],
    stop: "retries_exhausted",
  },
];

for (const fault of FAULTS) {
  test.concurrent(`${fault.name} is told, runs no tool on half its input, and the next message works`, async () => {
    const id = await newSession(client, "x");
    for (const step of fault.steps)
      service.model.enqueue({ ...step, match: { session: id, purpose: "main" } });
    const events = await turn(client, id, "do something");
    expect(errorsOf(events)).toEqual(fault.errors);
    const idle = events.at(-1);
    expect(idle?.type === "session.status_idle" && idle.stop_reason.type).toBe(fault.stop);
    expect(wholeSpans(events)).toBe(true);
    const results = events.flatMap((e) => (e.type === "agent.tool_result" ? [e.is_error] : []));
    expect(results.every((isError) => isError === true)).toBe(true);
    const next = await turn(client, id, "hello again");
    expect(answers(next)).toEqual([expect.stringContaining("hello again")]);
    const file = await fetch(`${service.url}/v1/workspaces/x/files/a.md`, {
      headers: { authorization: `Bearer ${await service.token()}` },
    });
    expect(file.status).toBe(404);
  });
}

test.concurrent("a model that stays overloaded ends the turn, and the next message works", {
  timeout: 60_000,
}, async () => {
  const id = await newSession(client);
  service.model.enqueue({
    fault: { type: "status", status: 529 },
    times: 5,
    match: { session: id, purpose: "main" },
  });
  const events = await turn(client, id, "hello");
  expect(errorsOf(events).map(([, status]) => status)).toEqual([
    "retrying",
    "retrying",
    "retrying",
    "retrying",
    "exhausted",
  ]);
  expect(answers(await turn(client, id, "hello again"))[0]).toContain("hello again");
});

test.concurrent("a long retry-after is waited for by alarm: the session says so and goes on by itself", {
  timeout: 60_000,
}, async () => {
  const id = await newSession(client);
  service.model.enqueue({
    fault: { type: "status", status: 429, retry_after: 6 },
    match: { session: id, purpose: "main" },
  });
  const started = Date.now();
  const events = turn(client, id, "hello");
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect((await client.beta.sessions.retrieve(id)).status).toBe("rescheduling");
  const types = typesOf(await events);
  expect(Date.now() - started).toBeGreaterThan(5500);
  expect(types.filter((type) => type.startsWith("session.status"))).toEqual([
    "session.status_running",
    "session.status_rescheduled",
    "session.status_running",
    "session.status_idle",
  ]);
});

function errorsOf(events: readonly SessionEvent[]): [string, string][] {
  return events.flatMap((event): [string, string][] =>
    event.type === "session.error" ? [[event.error.type, event.error.retry_status.type]] : [],
  );
}

/** Each request has one start and one end, in this order. */
function wholeSpans(events: readonly SessionEvent[]): boolean {
  let open: string | undefined;
  for (const event of events) {
    if (event.type === "span.model_request_start") {
      if (open !== undefined) return false;
      open = event.id;
    }
    if (event.type === "span.model_request_end") {
      if (open !== event.model_request_start_id) return false;
      open = undefined;
    }
  }
  return open === undefined;
}
