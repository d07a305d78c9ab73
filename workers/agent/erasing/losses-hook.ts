import type { Draft } from "../../../src/shared/thread/entry.ts";
import { REMINDER, textDraft } from "../../../src/shared/thread/entry.ts";
import type { TurnHook } from "../../../src/shared/turn/hooks.ts";
import type { Conversation } from "../setup/conversation.ts";
import type { SessionContext } from "../setup/session-context.ts";
import { deletionReminder } from "./deletion-reminder.ts";
import { erasures, toldDeletions, untoldDeletions } from "./settle-losses.ts";

/**
 * The model is told what was deleted, and what was redacted while the turn ran is in no further request.
 * The turn has asked before it began.
 */
export function lossesHook(
  session: SessionContext,
  { memory }: Conversation,
): TurnHook | undefined {
  if (!memory) return undefined;
  const { sql } = session;
  const before = erasures(sql);
  let asked = true;
  let told: Draft | undefined;
  return {
    async joining() {
      const text = deletionReminder(memory.directory, untoldDeletions(sql));
      told = text === undefined ? undefined : textDraft(REMINDER, text);
      return told ? [told] : [];
    },
    async prepare() {
      if (!asked) await session.settleLosses();
      asked = false;
      // It begins anew, with the prompt and the messages as they are now.
      return erasures(sql) !== before ? { status: "paused", ms: 0 } : { status: "ready" };
    },
    record(step) {
      if (step.type === "joined" && step.message === told?.message) toldDeletions(sql);
    },
  };
}
