import type { AssistantBlock, Message } from "../thread/messages.ts";
import type { ToolSpec } from "./tool.ts";

/** Why a request is made; sent as `x-memdir-purpose` and used to account for its cost. */
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
  /** JSON schema of the whole answer, where it is to be JSON; the answer is to be checked all the same. */
  schema?: Record<string, unknown> | undefined;
  /** The model is not to think first: its few tokens are for the answer. */
  noThinking?: boolean | undefined;
}

/** Tokens, as the API counts them: `input` is what was neither read from nor written to the cache. */
export interface Usage {
  input: number;
  cacheRead: number;
  cacheCreation: number;
  output: number;
}

export const NO_USAGE: Usage = { input: 0, cacheRead: 0, cacheCreation: 0, output: 0 };

export interface ToolCall {
  /** One that the API takes and that no other call of the history and of this answer has. */
  id: string;
  name: string;
  /** Parsed input; `{}` where `malformed` says that the model's JSON could not be parsed. */
  input: Record<string, unknown>;
  malformed?: string | undefined;
}

/** What a model says while it speaks. Only the final `Answer` is to be kept. */
export type ModelEvent =
  /** `block` counts the blocks of the answer from 0. */
  | { type: "text_start"; block: number }
  | { type: "text"; block: number; text: string }
  | { type: "thinking_start"; block: number }
  /** The input of a call is complete. The answer may still turn out not to end properly. */
  | { type: "call"; call: ToolCall };

export interface Answer {
  status: "answered";
  /** Without empty text blocks and without a call that the token limit cut. */
  content: AssistantBlock[];
  /** Ids of calls whose input could not be parsed, with the reason. */
  malformed: ReadonlyMap<string, string>;
  /** `end_turn`, `tool_use`, `max_tokens`, `refusal`, `pause_turn`, … or one not known yet. */
  stopReason: string;
  /** True where the token limit cut a tool call and the call was left out of `content`. */
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
  /** It does not serve us: credentials, or a model that is not there. */
  | "denied"
  | "rejected"
  | "too_long"
  | "too_large"
  | "aborted";

export interface ModelFailure {
  status: "failed";
  kind: FailureKind;
  /** For people: no content, no key, no address. */
  message: string;
  /** Milliseconds that the server asked to wait. */
  retryAfterMs?: number | undefined;
  /** What the call took before it failed; absent where the model had not begun. */
  usage?: Usage | undefined;
}

/** The port to a model. Expected failures are returned; nothing throws. */
export interface Model {
  /** The tokens of a request's prompt; undefined where the server does not say. */
  count?(request: ModelRequest, signal: AbortSignal): Promise<number | undefined>;
  stream(
    request: ModelRequest,
    signal: AbortSignal,
  ): AsyncGenerator<ModelEvent, Answer | ModelFailure>;
}

/** One whole answer, where nobody wants to see it come. */
export async function answerOf(
  model: Model,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<Answer | ModelFailure> {
  const stream = model.stream(request, signal);
  let event = await stream.next();
  while (!event.done) event = await stream.next();
  return event.value;
}
