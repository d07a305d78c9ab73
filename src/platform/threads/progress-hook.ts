import type { RecordedStep, StepHook } from "../../shared/loop/steps.ts";

/** Steps after which a run that dies again has died at another place. */
const PROGRESS: ReadonlySet<RecordedStep["type"]> = new Set([
  "answered",
  "call_finished",
  "results",
  "joined",
  "interrupted",
]);

/** Calls `reached`, within the transaction of the step, once the run has come further. */
export function progressHook(reached: () => void): StepHook {
  let done = false;
  return {
    record({ type }) {
      if (done || !PROGRESS.has(type)) return;
      done = true;
      reached();
    },
  };
}
