import type { FailureKind, ModelFailure } from "./model.ts";

export interface RetryLimits {
  /** Attempts of one call. */
  attempts: number;
  firstMs: number;
  mostMs: number;
  /** A longer backoff pauses the turn; up to this the loop sleeps, in milliseconds. */
  inMemoryMs: number;
  /** A longer `retry-after` ends the turn. */
  retryAfterMostMs: number;
}

export type RetryDecision =
  | { action: "retry"; ms: number }
  | { action: "pause"; ms: number }
  | { action: "give_up" };

const TRANSIENT: ReadonlySet<FailureKind> = new Set([
  "overloaded",
  "rate_limited",
  "server_error",
  "unreachable",
  "cut",
  "stalled",
]);

/**
 * Whether a failed model call is retried, and after how many milliseconds. `attempt` counts the
 * failures before this one. The backoff doubles, with up to a quarter of jitter so that many sessions
 * do not retry at the same moment; a longer `retry-after` of the server takes its place.
 */
export function decideRetry(
  failure: ModelFailure,
  attempt: number,
  limits: RetryLimits,
  random: () => number,
): RetryDecision {
  if (!TRANSIENT.has(failure.kind)) return { action: "give_up" };
  if (attempt + 1 >= limits.attempts) return { action: "give_up" };
  const backoff = Math.min(limits.firstMs * 2 ** attempt, limits.mostMs) * (1 - random() / 4);
  const ms = Math.ceil(Math.max(failure.retryAfterMs ?? 0, backoff));
  if (ms > limits.retryAfterMostMs) return { action: "give_up" };
  return { action: ms > limits.inMemoryMs ? "pause" : "retry", ms };
}
