import type { ModelFailure } from "./model.ts";
import type { NextTry, RetryLimits } from "./retry.ts";
import { nextTry } from "./retry.ts";
import type { LoopOutcome } from "./steps.ts";

/** How the model call that is due is to be made. */
export interface CallPlan {
  model: string;
  /** The model has just refused the conversation for its length. */
  tooLong: boolean;
  /** It was made shorter for that since the last answer. */
  shortened: boolean;
}

interface Ports {
  request: { model: string };
  hooks: { prepare?: unknown };
  fallback?: string | undefined;
  limits: RetryLimits;
  random: () => number;
}

export interface AfterFailure {
  call: CallPlan;
  step: { next: NextTry; outcome: LoopOutcome | undefined };
  /** Milliseconds before the next try. */
  ms: number;
}

/** Tries that an overloaded model gets before another one takes over. */
const FALLBACK_AFTER = 2;

/**
 * What follows a failed model call; `attempt` counts the failures before this one. A prompt that
 * proves too long is compacted and tried again, once; an overloaded model gives way to its fallback;
 * else it is tried again, or not, by `nextTry`.
 */
export function afterFailure(
  failure: ModelFailure,
  attempt: number,
  call: CallPlan,
  { request, hooks, fallback, limits, random }: Ports,
): AfterFailure {
  const again = (plan: Partial<CallPlan>): AfterFailure => ({
    call: { ...call, ...plan },
    step: { next: { action: "retry", ms: 0 }, outcome: undefined },
    ms: 0,
  });
  if (failure.kind === "too_long" && !call.shortened && hooks.prepare) {
    return again({ tooLong: true, shortened: true });
  }
  const overloaded = failure.kind === "overloaded" && attempt + 1 >= FALLBACK_AFTER;
  if (overloaded && fallback !== undefined && call.model === request.model) {
    return again({ model: fallback });
  }
  const next = nextTry(failure, attempt, limits, random);
  const ms = next.action === "retry" ? next.ms : 0;
  return { call, step: { next, outcome: outcomeOf(next) }, ms };
}

function outcomeOf(next: NextTry): LoopOutcome | undefined {
  if (next.action === "give_up") return { reason: "failed" };
  return next.action === "wait" ? { reason: "wait", ms: next.ms } : undefined;
}
