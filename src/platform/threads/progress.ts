// How far the newest turn of a thread has come.

import * as z from "zod";
import type { LoopOutcome } from "../../shared/loop/steps.ts";
import { defineState } from "../state.ts";
import type { Thread } from "./thread.ts";

const outcome: z.ZodType<LoopOutcome> = z.discriminatedUnion("reason", [
  z.object({ reason: z.enum(["end_turn", "interrupted", "refusal", "stopped", "failed"]) }),
  z.object({ reason: z.literal("iterations"), limit: z.number() }),
  z.object({ reason: z.literal("paused"), ms: z.number() }),
  z.object({ reason: z.literal("requires_action") }),
]);

const schema = z.object({
  turn: z.number(),
  /** Answers so far. */
  iteration: z.number(),
  /** Failed attempts of the model call that is due. */
  attempt: z.number(),
  /** Answers that the token limit cut or that the model paused. */
  continuations: z.number(),
  /** Stored together with the last step: only the end of the turn is left to record. */
  outcome: outcome.optional(),
});

type Progress = z.infer<typeof schema>;

const NONE: Progress = { turn: 0, iteration: 0, attempt: 0, continuations: 0 };
const progress = defineState("progress", schema, NONE);

/** All zero for a turn that has not begun, or that is not the newest. */
export function readProgress({ sql, id }: Thread, turn: number): Progress {
  const found = progress.read(sql, id);
  return found.turn === turn ? found : { ...NONE, turn };
}

/** Changes some fields. Within a transaction. */
export function changeProgress(
  thread: Thread,
  turn: number,
  change: Partial<Omit<Progress, "turn">>,
): void {
  progress.write(thread.sql, { ...readProgress(thread, turn), ...change }, thread.id);
}

/** Within a transaction. */
export function clearProgress({ sql, id }: Thread): void {
  progress.clear(sql, id);
}
