// The only driver: everything that runs a loop in a thread uses it.

import type { LoopOutcome, LoopStep, RecordedStep, StepHook } from "../../shared/loop/steps.ts";
import { recordStep } from "./record-step.ts";
import type { Thread, ThreadContext } from "./thread.ts";

/**
 * Runs a loop to its end. Each step is one transaction of the recorder and the hooks, in their order, and
 * is on disk before the next one. So after a crash the run continues from its rows (`readTurn`), and
 * nothing is done twice.
 *
 * `isStopped` says before each record whether the run stops here, to continue later or never. Then the
 * step only goes to `dropped`, and the outcome is undefined. Throws what a record throws.
 */
export async function drive(
  loop: AsyncGenerator<LoopStep, LoopOutcome>,
  context: Pick<ThreadContext, "commit" | "now">,
  thread: Thread,
  turn: number,
  hooks: readonly StepHook[],
  isStopped: () => boolean = () => false,
): Promise<LoopOutcome | undefined> {
  let step = await loop.next();
  while (!step.done) {
    const { value } = step;
    if (value.type === "preview") {
      for (const hook of hooks) hook.preview?.(value.event);
    } else if (isStopped()) {
      for (const hook of hooks) hook.dropped?.(value);
      await loop.return({ reason: "interrupted" });
      return undefined;
    } else {
      record(context, thread, turn, hooks, value);
      for (const hook of hooks) hook.after?.(value);
    }
    step = await loop.next();
  }
  return step.value;
}

function record(
  { commit, now }: Pick<ThreadContext, "commit" | "now">,
  thread: Thread,
  turn: number,
  hooks: readonly StepHook[],
  step: RecordedStep,
): void {
  commit(() => {
    const at = now();
    const settled = hooks.some((hook) => hook.settles?.(step, at));
    if (!settled) recordStep(thread, turn, step, at);
    for (const hook of hooks) hook.record?.(step, at);
  });
}
