// The model port over HTTP. It makes the request and reads the stream itself, with the SDK's types and
// errors: the SDK's own client has retries, where ours are counted on disk, a timeout that ends with the
// response's headers, and readers to which a stream without `message_stop` looks complete; and a request
// by it takes as long as all else that a fast turn does before it asks.

import { APIConnectionError, APIError } from "@anthropic-ai/sdk/error";
import type { FailureKind, Model, ModelFailure, ModelRequest } from "../../shared/loop/model.ts";
import { createCallIds } from "../../shared/thread/call-ids.ts";
import { collectAnswer, partialUsage, type Received } from "./answer.ts";
import { isRecord } from "./event.ts";
import { requestBody } from "./request.ts";
import { serverEvents } from "./server-events.ts";

/** Timeout of a token count, in milliseconds: without a count there is an estimate. */
const COUNT_MS = 5_000;
const OFFICIAL_URL = "https://api.anthropic.com";

interface AnthropicOptions {
  apiKey: string;
  /** Another server with the Messages API; the official one if undefined. */
  baseUrl: string | undefined;
  /** Milliseconds without a byte, headers included, after which a call counts as stalled. */
  idleMs: number;
  /** JSON bytes of an answer. */
  answerBytes: number;
}

/** A model with the Messages API. Failures are returned, never thrown. */
export function createAnthropicModel(options: AnthropicOptions): Model {
  return {
    async count(request, signal) {
      try {
        const { max_tokens: _, stream: __, ...body } = requestBody(request);
        const stop = AbortSignal.any([signal, AbortSignal.timeout(COUNT_MS)]);
        const counted = await post(options, "/v1/messages/count_tokens", body, request, stop);
        const { input_tokens } = asRecord(await counted.json());
        return typeof input_tokens === "number" && input_tokens > 0 ? input_tokens : undefined;
      } catch {
        return undefined;
      }
    },
    async *stream(request, signal) {
      const watch = startWatch(options.idleMs);
      const stop = AbortSignal.any([signal, watch.signal]);
      const stopped = () => {
        if (signal.aborted) return failure("aborted", "The model call was stopped");
        return watch.signal.aborted ? stalled(request, options.idleMs) : undefined;
      };
      const received: Received = { usage: undefined, bytes: 0 };
      const failed = (own: ModelFailure): ModelFailure => ({
        ...(stopped() ?? own),
        usage: partialUsage(received),
      });
      try {
        const response = await post(options, "/v1/messages", requestBody(request), request, stop);
        watch.alive();
        const events = serverEvents(response, watch.alive);
        const callId = createCallIds(request.messages);
        const outcome = yield* collectAnswer(events, options.answerBytes, callId, received);
        return outcome.status === "answered" ? outcome : failed(outcome);
      } catch (error) {
        return failed(failureOf(error));
      } finally {
        watch.stop();
        // Closes the connection if the reader stopped early; no effect after a normal end.
        watch.cancel();
      }
    },
  };
}

/**
 * Posts JSON, with headers that say why, for a gateway, a log or a fake model. Throws an
 * `APIConnectionError` where the server could not be reached, an `APIError` where it refuses.
 */
async function post(
  { apiKey, baseUrl = OFFICIAL_URL }: AnthropicOptions,
  path: string,
  body: object,
  { purpose, sessionId }: ModelRequest,
  signal: AbortSignal,
): Promise<Response> {
  const headers = {
    "content-type": "application/json",
    "anthropic-version": "2023-06-01",
    "x-api-key": apiKey,
    "x-memdir-purpose": purpose,
    "x-memdir-session": sessionId,
  };
  const url = baseUrl.replace(/\/+$/, "") + path;
  const init = { method: "POST", headers, body: JSON.stringify(body), signal };
  const response = await fetch(url, init).catch((cause: unknown) => {
    throw new APIConnectionError({ cause: cause instanceof Error ? cause : undefined });
  });
  if (response.ok) return response;
  const error = await response.json().catch(() => undefined);
  throw new APIError(response.status, asRecord(error), undefined, response.headers);
}

function asRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

/** Aborts after so many milliseconds without a sign of life. One timer stands, however many there are. */
function startWatch(idleMs: number) {
  const controller = new AbortController();
  let aliveAt = performance.now();
  let timer = setTimeout(look, idleMs);
  function look(): void {
    const left = aliveAt + idleMs - performance.now();
    if (left <= 0) controller.abort();
    else timer = setTimeout(look, left);
  }
  return {
    signal: controller.signal,
    alive: () => {
      aliveAt = performance.now();
    },
    stop: () => clearTimeout(timer),
    cancel: () => controller.abort(),
  };
}

function failureOf(error: unknown): ModelFailure {
  if (error instanceof APIConnectionError) {
    return failure("unreachable", "The model's server could not be reached");
  }
  if (!(error instanceof APIError)) {
    return failure("cut", "The connection to the model broke off in the middle of an answer");
  }
  const retryAfterMs = retryAfter(error.headers);
  const { status, type } = error;
  if (status === 529 || type === "overloaded_error") {
    return { ...failure("overloaded", "The model is overloaded"), retryAfterMs };
  }
  if (status === 429) {
    return { ...failure("rate_limited", "The model's rate limit is reached"), retryAfterMs };
  }
  if (status === undefined || status >= 500 || status === 408) {
    return {
      ...failure("server_error", `The model's server failed (${status ?? type})`),
      retryAfterMs,
    };
  }
  const tooLong = status === 400 && /prompt is too long/i.test(error.apiMessage ?? error.message);
  if (tooLong || status === 413) {
    return failure("too_long", "The conversation is longer than the model's context window");
  }
  if (status === 401 || status === 402 || status === 403 || status === 404) {
    return failure(
      "denied",
      `The model's server refused our credentials or does not know the model (${status}). Check ANTHROPIC_API_KEY and MODEL`,
    );
  }
  return failure("rejected", `The model's server refused the request (${status} ${type ?? ""})`);
}

/** Milliseconds from `retry-after-ms`, else from `retry-after` in seconds or as a date. */
function retryAfter(headers: Headers | undefined): number | undefined {
  const exact = Number.parseFloat(headers?.get("retry-after-ms") ?? "");
  if (exact >= 0) return exact;
  const value = headers?.get("retry-after");
  if (!value) return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return seconds >= 0 ? seconds * 1000 : undefined;
  const until = Date.parse(value) - Date.now();
  return until > 0 ? until : undefined;
}

function stalled(request: ModelRequest, idleMs: number): ModelFailure {
  return failure("stalled", `The model (${request.model}) said nothing for ${idleMs} ms`);
}

function failure(kind: FailureKind, message: string): ModelFailure {
  return { status: "failed", kind, message };
}
