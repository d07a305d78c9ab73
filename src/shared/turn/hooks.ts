// A turn as a list of hooks: each part of a turn is one object with the moments that it cares for.

import type { LoopHooks, Prepared } from "../loop/loop.ts";
import type { LoopOutcome, StepHook } from "../loop/steps.ts";
import type { Draft } from "../thread/entry.ts";
import type { Message } from "../thread/messages.ts";

/** Moments are called in the order of the list; every one is optional. */
export interface TurnHook extends StepHook {
  /** Steps 1 to 7, before each model call. The first that is not ready decides. */
  prepare?: ((tooLong: boolean) => Promise<Prepared>) | undefined;
  /** Step 9. Not awaited, never throws. */
  sampled?: (() => void) | undefined;
  /** Step 11: what joins the turn. `messages`: the history up to now. */
  joining?: ((messages: readonly Message[]) => Promise<Draft[]>) | undefined;
  /**
   * The loop is over, or has thrown (no outcome): whatever runs for the turn is to stop. Nothing of the
   * turn's end is on disk yet.
   */
  ended?: ((outcome: LoopOutcome | undefined) => void | Promise<void>) | undefined;
}

/** The moments of the loop itself. */
export function loopHooks(hooks: readonly TurnHook[]): LoopHooks {
  return {
    async prepare(tooLong) {
      let messages: Message[] | undefined;
      for (const hook of hooks) {
        const prepared = await hook.prepare?.(tooLong);
        if (prepared?.status === "refused" || prepared?.status === "paused") return prepared;
        messages = prepared?.messages ?? messages;
      }
      return { status: "ready", messages };
    },
    sampled() {
      for (const hook of hooks) hook.sampled?.();
    },
    async joining(messages) {
      const drafts: Draft[] = [];
      for (const hook of hooks) drafts.push(...((await hook.joining?.(messages)) ?? []));
      return drafts;
    },
  };
}
