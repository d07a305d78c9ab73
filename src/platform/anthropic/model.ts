// The model port over the official SDK. It reads the stream itself: one without `message_stop` looks
// complete to the SDK's own readers, and they spend most of a fast answer's time. It has no retries,
// because ours are counted on disk, and its own watchdog, because the SDK's timeout ends with the
// response's headers.

import { BaseAnthropic } from "@anthropic-ai/sdk/client";
import { APIConnectionError, APIError } from "@anthropic-ai/sdk/error";
import { Messages } from "@anthropic-ai/sdk/resources/messages/messages";
import type { FailureKind, Model, ModelFailure, ModelRequest } from "../../shared/loop/model.ts";
import { createCallIds } from "../../shared/thread/call-ids.ts";
import { collectAnswer, partialUsage, type Received } from "./answer.ts";
import { requestBody } from "./request.ts";
import { serverEvents } from "./server-events.ts";

/** Timeout of a token count, in milliseconds: without a count there is an estimate. */
const COUNT_MS = 5_000;

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
  // The only resource that is used: the whole client is twice as large in the bundle.
  const messagesWith = (init: { fetch: typeof fetch }) =>
    new Messages(
      new BaseAnthropic({
        apiKey: options.apiKey,
        baseURL: options.baseUrl,
        maxRetries: 0,
        // It would log the text of an event that it cannot read.
        logLevel: "off",
        ...init,
      }),
    );
  return {
    async count(request, signal) {
      try {
        const { max_tokens: _, stream: __, ...body } = requestBody(request);
        const { input_tokens } = await messagesWith({ fetch: boundFetch }).countTokens(body, {
          signal: AbortSignal.any([signal, AbortSignal.timeout(COUNT_MS)]),
          headers: headersOf(request),
        });
        return Number.isFinite(input_tokens) && input_tokens > 0 ? input_tokens : undefined;
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
        const response = await messagesWith({ fetch: boundFetch })
          .create(requestBody(request), { signal: stop, headers: headersOf(request) })
          .asResponse();
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

/** Headers that say why a request is made, for a gateway, a log or a fake model. */
function headersOf({ purpose, sessionId }: ModelRequest): Record<string, string> {
  return { "x-memdir-purpose": purpose, "x-memdir-session": sessionId };
}

/** The SDK would call the runtime's `fetch` without its `this`. */
const boundFetch: typeof fetch = (input, init) => fetch(input, init);

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
