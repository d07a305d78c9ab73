import { type Answer, buildAnswer } from "./answer.ts";
import { type ApiError, errorBody, errorResponse } from "./api-error.ts";
import { handleControl } from "./control.ts";
import { lastUserText } from "./conversation.ts";
import { hash } from "./hash.ts";
import { countTokens, createMeter, type Meter } from "./meter.ts";
import { modelsAnswer } from "./models.ts";
import { answerByPolicy } from "./policy/answer-by-policy.ts";
import { createRecorder, type RecordedRequest, type Recorder } from "./record.ts";
import {
  createScriptQueue,
  type Fault,
  type ParsedStep,
  parseStep,
  type ScriptStep,
} from "./script.ts";
import { eventBody, messageBody, type StreamOptions, untilAborted } from "./stream.ts";
import { validateCount, validateMessages } from "./validate.ts";
import type { MessagesRequest } from "./wire.ts";

// A fake of the Messages API on this machine: one function from Request to Response, with web types only.
// An answer comes from the script queue, else from the test's own `reply`, else from the policy. It
// refuses an invalid request before it asks any of them; such a request takes no step.

/** One valid call, as `reply` and the policy see it. */
export interface ModelCall {
  request: MessagesRequest;
  purpose: string | undefined;
  session: string | undefined;
}

export interface FakeModelOptions {
  now?: () => number;
  sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** The pause between two chunks of a stream. */
  chunkDelayMs?: number;
  reply?: (call: ModelCall) => ScriptStep | undefined;
  /** How many requests it keeps; the oldest go first. */
  recordLimit?: number;
  /** In place of each model's own context window. */
  contextTokens?: number | undefined;
}

export interface FakeModel {
  handle(request: Request): Promise<Response>;
  requests: RecordedRequest[];
  enqueue(step: ScriptStep): void;
  /** Forgets the script, the recorded requests and the simulated cache. */
  reset(): void;
}

interface Context {
  options: FakeModelOptions;
  now: () => number;
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  queue: ReturnType<typeof createScriptQueue>;
  meter: Meter;
  recorder: Recorder;
  nextId: (kind: string) => string;
}

const VERSIONS = ["2023-06-01", "2026-10-21"];
const MAX_BODY_BYTES = 32 * 1024 * 1024;

export function createFakeModel(options: FakeModelOptions = {}): FakeModel {
  const now = options.now ?? Date.now;
  let issued = 0;
  const context: Context = {
    options,
    now,
    sleep: options.sleep ?? sleepFor,
    queue: createScriptQueue(),
    meter: createMeter(),
    recorder: createRecorder(options.recordLimit ?? 1_000),
    nextId: (kind) => `${kind}_${hash(`${kind}|${now()}|${issued++}`).slice(0, 24)}`,
  };
  const reset = () => {
    context.queue.clear();
    context.meter.clear();
    context.recorder.clear();
  };
  const { queue, recorder } = context;
  const controlled = { queue, requests: recorder.requests, reset };
  return {
    handle: async (request) =>
      (await handleControl(request, controlled)) ?? handle(context, request),
    requests: recorder.requests,
    enqueue: (step) => queue.add(step),
    reset,
  };
}

async function handle(context: Context, request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  const requestId = context.nextId("req");
  const record = context.recorder.open(request, pathname, context.now());
  const refuse = (error: ApiError) => {
    record.status = error.status;
    record.error = error.message;
    return errorResponse(error, requestId);
  };
  const apiKey = apiKeyOf(request.headers);
  if (apiKey === undefined) return refuse({ status: 401, message: "x-api-key header is required" });
  const version = request.headers.get("anthropic-version");
  if (version === null || !VERSIONS.includes(version)) {
    return refuse({ status: 400, message: versionProblem(version) });
  }

  const route = `${request.method} ${pathname}`;
  const posted = route === "POST /v1/messages" || route === "POST /v1/messages/count_tokens";
  if (!posted) {
    const found = route.startsWith("GET /v1/models") ? modelsAnswer(pathname) : undefined;
    if (!found) return refuse({ status: 404, message: `Not found: ${pathname}` });
    record.status = 200;
    return Response.json(found, { headers: { "request-id": requestId } });
  }

  const body = await readBody(request);
  if (body.status === "refused") return refuse(body.error);
  record.body = body.value;
  if (pathname.endsWith("count_tokens")) {
    const valid = validateCount(body.value);
    if (valid.status === "refused") return refuse(valid.error);
    record.status = 200;
    const counted = { input_tokens: countTokens(valid.request) };
    return Response.json(counted, { headers: { "request-id": requestId } });
  }
  const valid = validateMessages(body.value, { contextTokens: context.options.contextTokens });
  if (valid.status === "refused") return refuse(valid.error);
  const { minCacheTokens } = valid.model;
  const account = { apiKey, minCacheTokens, startedAt: context.now() };
  const metered = context.meter.measure(valid.request, account);

  const step = stepFor(context, valid.request, record);
  try {
    await context.sleep(step.delayMs ?? 0, request.signal);
    if (step.fault?.type === "stall_headers") await untilAborted(request.signal);
  } catch (cause) {
    record.aborted = true;
    throw cause;
  }
  if (step.fault?.type === "status") return refuse(statusError(step.fault));
  const answer = buildAnswer(valid.request, step, metered.usage, context.nextId("msg"));
  record.reply_id = answer.id;
  record.usage = answer.usage;
  record.stop_reason = answer.stopReason;
  return respond(context, request, valid.request, step, answer, {
    requestId,
    record,
    commit: metered.commit,
  });
}

interface Reply {
  requestId: string;
  record: RecordedRequest;
  commit: () => void;
}

function respond(
  context: Context,
  incoming: Request,
  request: MessagesRequest,
  step: ParsedStep,
  answer: Answer,
  { requestId, record, commit }: Reply,
): Response {
  const streaming: StreamOptions = {
    requestId,
    signal: incoming.signal,
    sleep: context.sleep,
    chunkDelayMs: step.chunkDelayMs ?? context.options.chunkDelayMs ?? 0,
    split: step.split ?? "events",
    fault: step.fault,
    onFirstByte: commit,
    onGone: () => {
      record.aborted = true;
    },
  };
  if (!request.stream && step.fault?.type === "stream_error") {
    const error = { status: 529, message: "Overloaded" };
    record.status = error.status;
    return Response.json(errorBody(error, requestId), { status: error.status });
  }
  record.status = 200;
  const body = request.stream ? eventBody(answer, streaming) : messageBody(answer, streaming);
  const type = request.stream ? "text/event-stream; charset=utf-8" : "application/json";
  return new Response(body, {
    headers: { "content-type": type, "cache-control": "no-cache", "request-id": requestId },
  });
}

function stepFor(context: Context, request: MessagesRequest, record: RecordedRequest): ParsedStep {
  const { purpose, session } = record;
  const scripted = context.queue.take({
    purpose,
    session,
    lastUserText: lastUserText(request.messages),
  });
  if (scripted) return scripted;
  const call: ModelCall = { request, purpose, session };
  return parseStep(context.options.reply?.(call) ?? answerByPolicy(call));
}

type Body = { status: "ok"; value: unknown } | { status: "refused"; error: ApiError };

async function readBody(request: Request): Promise<Body> {
  const bytes = await request.arrayBuffer();
  if (bytes.byteLength > MAX_BODY_BYTES) {
    const message = `Request exceeds the maximum size of ${MAX_BODY_BYTES} bytes`;
    return { status: "refused", error: { status: 413, message } };
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
    return { status: "ok", value: JSON.parse(text) };
  } catch (error) {
    const message = `The request body is not valid JSON: ${String(error)}`;
    return { status: "refused", error: { status: 400, message } };
  }
}

function apiKeyOf(headers: Headers): string | undefined {
  const bearer = /^Bearer\s+(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
  return headers.get("x-api-key") || bearer;
}

function versionProblem(version: string | null): string {
  if (version === null) return "anthropic-version: header is required";
  return `anthropic-version: "${version}" is not a valid version`;
}

function statusError(fault: Extract<Fault, { type: "status" }>): ApiError {
  const message = fault.message ?? `Scripted error ${fault.status}`;
  return { status: fault.status, message, retryAfterSeconds: fault.retry_after };
}

function sleepFor(ms: number, signal?: AbortSignal): Promise<void> {
  if (ms <= 0) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const leave = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", leave);
      resolve();
    }, ms);
    if (signal?.aborted) return leave();
    signal?.addEventListener("abort", leave, { once: true });
  });
}
