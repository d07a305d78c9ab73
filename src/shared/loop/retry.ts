import type { FailureKind, ModelFailure } from "./model.ts";

export interface RetryLimits {
  /** Tries of one call. */
  attempts: number;
  firstMs: number;
  mostMs: number;
  /** Pauses up to this long are spent in memory. */
  inMemoryMs: number;
  /** A server that asks for more than this ends the turn. */
  retryAfterMostMs: number;
}

export type NextTry =
  | { action: "retry"; ms: number }
  | { action: "wait"; ms: number }
  | { action: "give_up" };

const PASSING: ReadonlySet<FailureKind> = new Set([
  "overloaded",
  "rate_limited",
  "server_error",
  "unreachable",
  "cut",
  "stalled",
]);

/**
 * What follows a failed model call. `attempt` counts the failures before this one. The server's
 * hint is obeyed where it gives one; our own pauses double and are shortened by up to a quarter, so
 * that many sessions do not come back at the same moment.
 */
export function nextTry(
  failure: ModelFailure,
  attempt: number,
  limits: RetryLimits,
  random: () => number,
): NextTry {
  if (!PASSING.has(failure.kind)) return { action: "give_up" };
  if (attempt + 1 >= limits.attempts) return { action: "give_up" };
  const own = Math.min(limits.firstMs * 2 ** attempt, limits.mostMs) * (1 - random() / 4);
  const ms = Math.ceil(Math.max(failure.retryAfterMs ?? 0, own));
  if (ms > limits.retryAfterMostMs) return { action: "give_up" };
  return { action: ms > limits.inMemoryMs ? "wait" : "retry", ms };
}
