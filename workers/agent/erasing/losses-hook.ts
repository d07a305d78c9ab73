import type { Draft } from "../../../src/shared/thread/entry.ts";
import { REMINDER, textDraft } from "../../../src/shared/thread/entry.ts";
import type { TurnHook } from "../../../src/shared/turn/hooks.ts";
import { erasures } from "../rows/erasures.ts";
import type { Conversation } from "../setup/conversation.ts";
import type { SessionContext } from "../setup/session-context.ts";
import { deletionReminder } from "./deletion-reminder.ts";
import { toldDeletions, untoldDeletions } from "./settle-losses.ts";

/**
 * Before each model call it is asked what was lost, beside what is done and written meanwhile, so that
 * nobody waits for it but the call. Where something was, the turn begins anew: the model is told what
 * was deleted, and what was redacted is in no request. `asked`: the question that was put already.
 */
export function lossesHook(
  session: SessionContext,
  { memory }: Conversation,
  asked: Promise<void> | undefined,
): TurnHook | undefined {
  if (!memory) return undefined;
  const { sql } = session;
  const before = erasures(sql);
  let asking = asked;
  let told: Draft | undefined;
  return {
    async joining() {
      const text = deletionReminder(memory.directory, untoldDeletions(sql));
      told = text === undefined ? undefined : textDraft(REMINDER, text);
      return told ? [told] : [];
    },
    async prepare() {
      asking ??= session.settleLosses();
      // It is waited for when the call is due.
      asking.catch(() => {});
      return { status: "ready" };
    },
    record(step) {
      if (step.type === "joined" && step.message === told?.message) toldDeletions(sql);
    },
    async sending() {
      await asking;
      asking = undefined;
      return erasures(sql) === before && untoldDeletions(sql).length === 0;
    },
  };
}
