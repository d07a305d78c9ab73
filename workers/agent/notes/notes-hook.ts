import type { TurnHook } from "../../../src/shared/turn/hooks.ts";
import { countAnswer } from "../rows/notes.ts";
import type { TurnRef } from "../setup/conversation.ts";
import type { SessionContext } from "../setup/session-context.ts";

/** Counts what a turn adds to the conversation, and looks after each answer whether notes are due. */
export function notesHook(
  { sql, notes }: Pick<SessionContext, "sql" | "notes">,
  turn: TurnRef,
): TurnHook {
  return {
    record(step) {
      if (step.type === "answered") countAnswer(sql, step.usage, step.calls.length);
    },
    sampled: () => notes.look(turn),
  };
}
