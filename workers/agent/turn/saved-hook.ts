import { savedEvent } from "../../../src/shared/events/memory.ts";
import type { Receipt } from "../../../src/shared/files/receipt.ts";
import { receiptsIn } from "../../../src/shared/loop/tool.ts";
import type { TurnHook } from "../../../src/shared/turn/hooks.ts";
import { appendEvent } from "../rows/events.ts";
import { markWrote } from "../rows/extraction-state.ts";
import type { TurnRef } from "../setup/conversation.ts";
import type { TurnMemory } from "../setup/memory.ts";
import { healIndex } from "../setup/memory.ts";
import type { SessionContext } from "../setup/session-context.ts";

/**
 * The events of memories that the agent saved. Heals the index after a turn that wrote. `resumed`: an
 * instance before this one may have written.
 */
export function savedHook(
  { sql, commit, now }: Pick<SessionContext, "sql" | "commit" | "now">,
  turn: TurnRef,
  memory: TurnMemory,
  resumed: boolean,
): TurnHook {
  let wrote = resumed;
  // Only what is on disk has a receipt.
  const report = (receipts: readonly Receipt[], at: number) => {
    if (receipts.length === 0) return;
    wrote = true;
    markWrote(sql, turn.n);
    const draft = savedEvent("agent", memory.storeId, receipts);
    appendEvent(sql, { ...draft, turn_id: turn.eventId }, at);
  };
  return {
    record(step, at) {
      if (step.type === "call_finished") report(receiptsIn(step.result.notes), at);
    },
    async ended(outcome) {
      if (!outcome || !wrote) return;
      const healed = await healIndex(memory);
      if (healed.length > 0) commit(() => report(healed, now()));
    },
  };
}
