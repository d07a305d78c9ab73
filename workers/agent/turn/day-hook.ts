// A turn that goes on after midnight, or is resumed on another day: what joins it, and what the model
// does from there on, has its own date.

import { dayDraft } from "../../../src/shared/thread/entry.ts";
import type { TurnHook } from "../../../src/shared/turn/hooks.ts";
import { dayToTell, keepTold } from "../rows/told-day.ts";
import type { SessionContext } from "../setup/session-context.ts";

export function dayHook({ sql, now }: Pick<SessionContext, "sql" | "now">): TurnHook {
  return {
    async joining(history) {
      // An answer that is gone on with stays the last word.
      if (history.at(-1)?.role !== "user") return [];
      const day = dayToTell(sql, now());
      return day ? [dayDraft(day)] : [];
    },
    record(step) {
      if (step.type === "joined" && step.origin.type === "day") keepTold(sql, step.origin);
    },
  };
}
