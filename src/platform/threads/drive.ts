// The one driver: whatever runs a loop in a thread runs it by this.

import type { LoopOutcome, LoopStep, RecordedStep, StepHook } from "../../shared/loop/steps.ts";
import { recordStep } from "./record-step.ts";
import type { Thread, ThreadContext } from "./thread.ts";

/**
 * Runs a loop to its end: each step is one transaction of the recorder and the hooks, in their order,
 * and is on disk before the loop goes on. So a run that dies is gone on with from its rows
 * (`readTurn`), and nothing is done twice.
 *
 * `cut`, where it is given, is asked before each record whether the run is cut off, to be gone on with
 * later or never: then what came is only given to `dropped`, and the answer is undefined. Throws what a
 * record throws.
 */
export async function drive(
  loop: AsyncGenerator<LoopStep, LoopOutcome>,
  context: Pick<ThreadContext, "commit" | "now">,
  thread: Thread,
  turn: number,
  hooks: readonly StepHook[],
  cut: () => boolean = () => false,
): Promise<LoopOutcome | undefined> {
  let step = await loop.next();
  while (!step.done) {
    const { value } = step;
    if (value.type === "preview") {
      for (const hook of hooks) hook.preview?.(value.event);
    } else if (cut()) {
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
    recordStep(thread, turn, step, now());
    for (const hook of hooks) hook.record?.(step);
  });
}
