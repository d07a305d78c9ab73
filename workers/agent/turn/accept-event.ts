import type { CallAnswer } from "../../../src/shared/loop/pending-action.ts";
import { escapeReminders } from "../../../src/shared/safety/fence.ts";
import type { ClientEvent } from "../contract/client-events.ts";
import type { StoredEvent } from "../rows/events.ts";
import { appendEvent } from "../rows/events.ts";
import { answerAction } from "../rows/pending-actions.ts";
import { addTurn } from "../rows/turns.ts";
import { answered, interruptTurn } from "./pause-turn.ts";

/**
 * Puts a client event into the log and does what it asks for. Within a transaction. Throws
 * `invalid_request`, naming its place in the request, for an answer that nothing waits for; then
 * nothing of the request is kept. `begun`: the turn that this instance runs.
 */
export function acceptEvent(
  sql: SqlStorage,
  event: ClientEvent,
  now: number,
  { place = "events.0", begun }: { place?: string; begun?: number | undefined } = {},
): StoredEvent {
  const stored = appendEvent(sql, { ...event }, now);
  switch (event.type) {
    case "user.message":
      addTurn(sql, stored);
      break;
    case "user.interrupt":
      interruptTurn(sql, now, begun);
      break;
    case "user.tool_confirmation": {
      const { tool_use_id, result, deny_message } = event;
      const denial = {
        type: "deny" as const,
        message: deny_message == null ? undefined : escapeReminders(deny_message),
      };
      const answer: CallAnswer = result === "allow" ? { type: "allow" } : denial;
      const turn = answerAction(sql, `${place}.tool_use_id`, tool_use_id, "approval", answer, now);
      answered(sql, turn, now);
      break;
    }
    case "user.custom_tool_result": {
      const { custom_tool_use_id, content = [], is_error } = event;
      const answer: CallAnswer = {
        type: "result",
        content: escapeReminders(content.map(({ text }) => text).join("\n")),
        isError: is_error ?? false,
      };
      const field = `${place}.custom_tool_use_id`;
      const turn = answerAction(sql, field, custom_tool_use_id, "client", answer, now);
      answered(sql, turn, now);
      break;
    }
  }
  return stored;
}
