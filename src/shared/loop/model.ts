import type { AssistantBlock, Message } from "../thread/messages.ts";
import type { ToolSpec } from "./tool.ts";

/** Why a request is made; sent as `x-memdir-purpose` and used for the cost account. */
export type Purpose =
  | "main"
  | "subagent"
  | "recall"
  | "extraction"
  | "session-notes"
  | "compaction"
  | "agent-summary"
  | "dream";

export interface ModelRequest {
  purpose: Purpose;
  /** Public id of the session (for a dream: of the dream), sent as `x-memdir-session`. */
  sessionId: string;
  model: string;
  /** Output tokens. */
  maxTokens: number;
  /** Blocks of the system prompt, none empty. */
  system: readonly string[];
  tools: readonly ToolSpec[];
  messages: readonly Message[];
  /** JSON schema of the whole answer; it does not replace a check of the answer. */
  schema?: Record<string, unknown> | undefined;
  /** Turns thinking off: the few output tokens are for the answer. */
  noThinking?: boolean | undefined;
}

/** Tokens as the API counts them. `input` was neither read from nor written to the cache. */
export interface Usage {
  input: number;
  cacheRead: number;
  cacheCreation: number;
  output: number;
}

export const NO_USAGE: Usage = { input: 0, cacheRead: 0, cacheCreation: 0, output: 0 };

export interface ToolCall {
  /** Valid for the API, and unique in the history and in this answer. */
  id: string;
  name: string;
  /** Parsed input; `{}` where `malformed` says that the model's JSON could not be parsed. */
  input: Record<string, unknown>;
  malformed?: string | undefined;
}

/** A stream event. Only the final `Answer` may be kept. */
export type ModelEvent =
  /** `block` counts the blocks of the answer from 0. */
  | { type: "text_start"; block: number }
  | { type: "text"; block: number; text: string }
  | { type: "thinking_start"; block: number }
  /** The input of a call is complete. The answer may still break off. */
  | { type: "call"; call: ToolCall };

export interface Answer {
  status: "answered";
  /** Without empty text blocks, and without a call that the token limit cut. */
  content: AssistantBlock[];
  /** Ids of calls whose input could not be parsed, with the reason. */
  malformed: ReadonlyMap<string, string>;
  /** `end_turn`, `tool_use`, `max_tokens`, `refusal`, `pause_turn`, … or one not known yet. */
  stopReason: string;
  /** The token limit cut a tool call, which is not in `content`. */
  cutCall: boolean;
  usage: Usage;
}

export type FailureKind =
  | "overloaded"
  | "rate_limited"
  | "server_error"
  | "unreachable"
  | "cut"
  | "stalled"
  /** Wrong credentials, or an unknown model. */
  | "denied"
  | "rejected"
  | "too_long"
  | "too_large"
  | "aborted";

export interface ModelFailure {
  status: "failed";
  kind: FailureKind;
  /** For people. Contains no content, no key, no address. */
  message: string;
  /** The server's `retry-after`, in milliseconds. */
  retryAfterMs?: number | undefined;
  /** What the call cost before it failed; absent if the model had not started to answer. */
  usage?: Usage | undefined;
}

/** The port to a model. Expected failures are returned; nothing throws. */
export interface Model {
  /** The tokens of a request's prompt; undefined if the server does not count them. */
  count?(request: ModelRequest, signal: AbortSignal): Promise<number | undefined>;
  stream(
    request: ModelRequest,
    signal: AbortSignal,
  ): AsyncGenerator<ModelEvent, Answer | ModelFailure>;
}

/** Streams a request to its end and returns the whole answer. */
export async function requestAnswer(
  model: Model,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<Answer | ModelFailure> {
  const stream = model.stream(request, signal);
  let event = await stream.next();
  while (!event.done) event = await stream.next();
  return event.value;
}
