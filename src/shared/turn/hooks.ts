// A turn is a list of hooks: each part of a turn is one object with the callbacks that it needs.

import type { LoopHooks, Prepared } from "../loop/loop.ts";
import type { LoopOutcome, StepHook } from "../loop/steps.ts";
import type { Draft } from "../thread/entry.ts";
import type { Message } from "../thread/messages.ts";

/** Callbacks are called in the order of the list. */
export interface TurnHook extends StepHook {
  /** Steps 1 to 7, before each model call. The first hook that is not ready decides. */
  prepare?: ((tooLong: boolean) => Promise<Prepared>) | undefined;
  /** The model is about to be asked: false where the turn is to begin anew. */
  sending?: (() => Promise<boolean>) | undefined;
  /** Step 9. Not awaited, never throws. */
  sampled?: (() => void) | undefined;
  /** Step 11: the messages that join the turn. `messages`: the history up to now. */
  joining?: ((messages: readonly Message[]) => Promise<Draft[]>) | undefined;
  /**
   * The loop has ended, or has thrown (no outcome): stop whatever runs for the turn. The turn's end is not
   * on disk yet.
   */
  ended?: ((outcome: LoopOutcome | undefined) => void | Promise<void>) | undefined;
}

/** The hooks of the loop, each of which calls those of the turn. */
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
    async sending() {
      for (const hook of hooks) if ((await hook.sending?.()) === false) return false;
      return true;
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
