import * as z from "zod";
import type { LoopOutcome } from "../../shared/loop/steps.ts";
import type { Thread } from "./thread.ts";

/** The state of a turn beside its messages and calls. */
interface Progress {
  /** Answers so far. */
  iteration: number;
  /** Failed attempts of the model call that is due. */
  attempt: number;
  /** Answers that the token limit cut or that the model paused. */
  continuations: number;
  /** Stored together with the last step: only the end of the turn is left to record. */
  outcome: LoopOutcome | undefined;
}

type Row = { iteration: number; attempt: number; continuations: number; outcome: string | null };

const schema = z.discriminatedUnion("reason", [
  z.object({ reason: z.enum(["end_turn", "interrupted", "refusal", "stopped", "failed"]) }),
  z.object({ reason: z.literal("iterations"), limit: z.number() }),
  z.object({ reason: z.literal("paused"), ms: z.number() }),
  z.object({ reason: z.literal("requires_action") }),
]);

/** All zero for a turn that has not begun. */
export function readProgress({ sql, id }: Thread, turn: number): Progress {
  const [row] = sql
    .exec<Row>(
      `SELECT iteration, attempt, continuations, outcome FROM progress
       WHERE thread = ? AND turn = ?`,
      id,
      turn,
    )
    .toArray();
  if (!row) return { iteration: 0, attempt: 0, continuations: 0, outcome: undefined };
  const outcome = row.outcome === null ? undefined : schema.parse(JSON.parse(row.outcome));
  return { ...row, outcome };
}

/** Changes some fields. Within a transaction. */
export function changeProgress(thread: Thread, turn: number, change: Partial<Progress>): void {
  const { iteration, attempt, continuations, outcome } = {
    ...readProgress(thread, turn),
    ...change,
  };
  thread.sql.exec(
    `INSERT OR REPLACE INTO progress (thread, turn, iteration, attempt, continuations, outcome)
     VALUES (?, ?, ?, ?, ?, ?)`,
    thread.id,
    turn,
    iteration,
    attempt,
    continuations,
    outcome === undefined ? null : JSON.stringify(outcome),
  );
}
