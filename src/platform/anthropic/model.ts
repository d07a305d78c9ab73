// The port to a model, over the official SDK: raw stream events, because a stream that stops
// without `message_stop` looks like a complete one to the SDK's own readers; no retries here,
// because ours are counted on disk; and a watchdog of our own, because the SDK's time limit ends
// with the response's headers.

import { BaseAnthropic } from "@anthropic-ai/sdk/client";
import { APIConnectionError, APIError } from "@anthropic-ai/sdk/error";
import { Messages } from "@anthropic-ai/sdk/resources/messages/messages";
import type { FailureKind, Model, ModelFailure, ModelRequest } from "../../shared/loop/model.ts";
import { createCallIds } from "../../shared/thread/call-ids.ts";
import { collectAnswer, type Heard, spent } from "./answer.ts";
import { requestBody } from "./request.ts";

/** A count is waited for this long, in milliseconds: there is an estimate without it. */
const COUNT_MS = 5_000;

export interface AnthropicOptions {
  apiKey: string;
  /** Another server that speaks the Messages API; the official one where undefined. */
  baseUrl: string | undefined;
  /** Milliseconds of silence after which a call counts as stalled; headers included. */
  idleMs: number;
  /** JSON bytes of an answer. */
  answerBytes: number;
}

/** A model behind the Messages API. Its failures are returned, never thrown. */
export function createAnthropicModel(options: AnthropicOptions): Model {
  // The one resource that is used: the whole client is twice as large in the bundle.
  const messagesWith = (init: { fetch: typeof fetch }) =>
    new Messages(
      new BaseAnthropic({
        apiKey: options.apiKey,
        ...(options.baseUrl === undefined ? {} : { baseURL: options.baseUrl }),
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
      const heard: Heard = { usage: undefined, bytes: 0 };
      const failed = (own: ModelFailure): ModelFailure => {
        const usage = spent(heard);
        return { ...(stopped() ?? own), ...(usage ? { usage } : {}) };
      };
      const messages = messagesWith({
        fetch: (input, init) => watchedFetch(input, init, watch.alive),
      });
      try {
        const events = await messages.create(requestBody(request), {
          signal: stop,
          headers: headersOf(request),
        });
        const callId = createCallIds(request.messages);
        const outcome = yield* collectAnswer(events, options.answerBytes, callId, heard);
        // The SDK ends an aborted stream silently, so that it looks like one that was cut.
        return outcome.status === "answered" ? outcome : failed(outcome);
      } catch (error) {
        return failed(failureOf(error));
      } finally {
        watch.stop();
        // Ends the connection where the reader left early; harmless after a proper end.
        watch.cancel();
      }
    },
  };
}

/** What tells a gateway, a log or a fake model why a request is made. */
function headersOf({ purpose, sessionId }: ModelRequest): Record<string, string> {
  return { "x-memdir-purpose": purpose, "x-memdir-session": sessionId };
}

/** The SDK would call the runtime's own without its `this`. */
const boundFetch: typeof fetch = (input, init) => fetch(input, init);

/** The first byte or header of a response, and each further one, restarts the watch. */
async function watchedFetch(
  input: string | URL | Request,
  init: RequestInit | undefined,
  alive: () => void,
): Promise<Response> {
  const response = await fetch(input, init);
  alive();
  if (!response.body) return response;
  const seen = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      alive();
      controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(seen), response);
}

function startWatch(idleMs: number) {
  const controller = new AbortController();
  let timer = setTimeout(() => controller.abort(), idleMs);
  return {
    signal: controller.signal,
    alive: () => {
      clearTimeout(timer);
      timer = setTimeout(() => controller.abort(), idleMs);
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
  const hint = retryAfterMs === undefined ? {} : { retryAfterMs };
  const { status, type } = error;
  if (status === 529 || type === "overloaded_error") {
    return { ...failure("overloaded", "The model is overloaded"), ...hint };
  }
  if (status === 429) {
    return { ...failure("rate_limited", "The model's rate limit is reached"), ...hint };
  }
  if (status === undefined || status >= 500 || status === 408) {
    return { ...failure("server_error", `The model's server failed (${status ?? type})`), ...hint };
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

/** `retry-after-ms`, else `retry-after` in seconds or as a date; milliseconds. */
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
