// Messages that come while a turn runs and join it, where the session says so. Until the moment in
// which one is in the transcript it is a turn that waits, so that it is never lost: it joins, or has
// its turn.

import type { Message } from "../../../src/shared/loop/messages.ts";
import { appendEvent } from "../rows/events.ts";
import type { Turn } from "../rows/turns.ts";
import { changeTurn, turnsThatWait } from "../rows/turns.ts";
import { messageContent } from "./turn-ends.ts";

export interface Joins {
  /** Those that wait and may join now, in their order: only behind results, before the next call. */
  take(history: readonly Message[]): Message[];
  /** False for one that must not join any more: an interrupt came first, so it has its own turn. */
  admits(message: Message): boolean;
  /** Closes the turn that the message would have had. Within the transaction that appends it. */
  joined(message: Message, now: number): void;
}

export function createJoins(sql: SqlStorage, turn: Turn, signal: AbortSignal): Joins {
  const taken = new Map<Message, Turn>();
  return {
    take(history) {
      if (signal.aborted || !isBehindResults(history)) return [];
      return turnsThatWait(sql).map((waiting) => {
        const content = messageContent.parse(JSON.parse(waiting.content));
        const message: Message = { role: "user", content };
        taken.set(message, waiting);
        return message;
      });
    },
    admits: (message) => !taken.has(message) || !signal.aborted,
    joined(message, now) {
      const own = taken.get(message);
      if (!own) return;
      changeTurn(sql, own.n, { status: "done", outcome: { reason: "end_turn" } });
      appendEvent(
        sql,
        { type: "turn.joined", turn_id: turn.eventId, message_id: own.eventId },
        now,
      );
    },
  };
}

/** Whether the model has had no word since its last results. */
function isBehindResults(history: readonly Message[]): boolean {
  const last = history.findLastIndex(({ role }) => role === "assistant");
  return history
    .slice(last + 1)
    .some(({ content }) => content.some(({ type }) => type === "tool_result"));
}
