import type { ModelFailure } from "./model.ts";
import type { RetryDecision, RetryLimits } from "./retry.ts";
import { decideRetry } from "./retry.ts";
import type { LoopOutcome } from "./steps.ts";

/** How the loop makes the model call that is due. */
interface NextCall {
  model: string;
  /** The model has just refused the conversation because of its length. */
  tooLong: boolean;
  /** The conversation was shortened for that reason since the last answer. */
  shortened: boolean;
}

interface Ports {
  request: { model: string };
  hooks: { prepare?: unknown };
  fallback?: string | undefined;
  limits: RetryLimits;
  random: () => number;
}

interface AfterFailure {
  call: NextCall;
  step: { next: RetryDecision; outcome: LoopOutcome | undefined };
  /** Milliseconds before the next attempt. */
  ms: number;
}

/** Attempts on an overloaded model before the fallback takes over. */
const FALLBACK_AFTER = 2;

/**
 * What follows a failed model call; `attempt` counts the failures before this one. A prompt that
 * proves too long is compacted and sent again, once. An overloaded model gives way to its fallback.
 * `decideRetry` decides every other case.
 */
export function afterFailure(
  failure: ModelFailure,
  attempt: number,
  call: NextCall,
  { request, hooks, fallback, limits, random }: Ports,
): AfterFailure {
  const retryNow = (change: Partial<NextCall>): AfterFailure => ({
    call: { ...call, ...change },
    step: { next: { action: "retry", ms: 0 }, outcome: undefined },
    ms: 0,
  });
  if (failure.kind === "too_long" && !call.shortened && hooks.prepare) {
    return retryNow({ tooLong: true, shortened: true });
  }
  const overloaded = failure.kind === "overloaded" && attempt + 1 >= FALLBACK_AFTER;
  if (overloaded && fallback !== undefined && call.model === request.model) {
    return retryNow({ model: fallback });
  }
  const next = decideRetry(failure, attempt, limits, random);
  const ms = next.action === "retry" ? next.ms : 0;
  return { call, step: { next, outcome: outcomeOf(next) }, ms };
}

function outcomeOf(next: RetryDecision): LoopOutcome | undefined {
  if (next.action === "give_up") return { reason: "failed" };
  return next.action === "pause" ? { reason: "paused", ms: next.ms } : undefined;
}
