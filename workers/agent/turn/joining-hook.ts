// Messages that come while a turn runs and join it, where the session says so. Until the moment in
// which one is in the transcript it is a queued turn, so that it is never lost: it joins, or has its
// turn.

import type { Draft } from "../../../src/shared/thread/entry.ts";
import type { Message } from "../../../src/shared/thread/messages.ts";
import { resultsOf } from "../../../src/shared/thread/shrink.ts";
import type { TurnHook } from "../../../src/shared/turn/hooks.ts";
import { appendEvent } from "../rows/events.ts";
import type { Turn } from "../rows/turns.ts";
import { changeTurn, queuedTurns, spokenDraft } from "../rows/turns.ts";
import { writeLanded } from "../rows/write-in-flight.ts";
import type { SessionContext } from "../setup/session-context.ts";

export function joiningHook(
  { sql }: Pick<SessionContext, "sql">,
  turn: Turn,
  signal: AbortSignal,
): TurnHook {
  const taken = new Map<Message, Turn>();
  return {
    /** Those that are queued, in their order: only after results, before the next call. */
    async joining(history) {
      if (signal.aborted || !isAfterResults(history)) return [];
      await writeLanded(sql);
      return queuedTurns(sql).map((queued): Draft => {
        const draft = spokenDraft(sql, queued);
        taken.set(draft.message, queued);
        return draft;
      });
    },
    /** The turn that the message would have had is over. */
    record(step, now) {
      const own = step.type === "joined" ? taken.get(step.message) : undefined;
      if (!own) return;
      changeTurn(sql, own.n, { status: "done" });
      appendEvent(
        sql,
        { type: "turn.joined", turn_id: turn.eventId, message_id: own.eventId },
        now,
      );
    },
  };
}

/** Whether the model has answered nothing since its last results. */
function isAfterResults(history: readonly Message[]): boolean {
  const last = history.findLastIndex(({ role }) => role === "assistant");
  return history.slice(last + 1).some((message) => resultsOf(message).length > 0);
}
