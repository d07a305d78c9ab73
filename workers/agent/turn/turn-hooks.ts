import { progressHook } from "../../../src/platform/threads/progress-hook.ts";
import type { TurnState } from "../../../src/shared/loop/steps.ts";
import type { TurnHook } from "../../../src/shared/turn/hooks.ts";
import { contextHook } from "../compaction/context-hook.ts";
import { lossesHook } from "../erasing/losses-hook.ts";
import { notesHook } from "../notes/notes-hook.ts";
import { recallHook } from "../recall/recall-hook.ts";
import type { Turn } from "../rows/turns.ts";
import { changeTurn } from "../rows/turns.ts";
import { usageHook } from "../rows/usage.ts";
import type { Conversation } from "../setup/conversation.ts";
import type { SessionContext } from "../setup/session-context.ts";
import { spaceHook } from "../setup/space.ts";
import { subrequestsHook } from "../setup/subrequests.ts";
import { dayHook } from "./day-hook.ts";
import { eventsHook } from "./events-hook.ts";
import { joiningHook } from "./joining-hook.ts";
import { savedHook } from "./saved-hook.ts";

/**
 * The parts of a turn, in the order in which each moment comes to them:
 *
 * progress     record                       forgets deaths: the turn has come further
 * subrequests  prepare                      pauses a turn before the platform's limit
 * space        prepare                      ends a turn before the object is full
 * losses       joining, prepare, sending    what others deleted is told, what they redacted is in no request
 * context      prepare, record              makes the conversation fit, keeps account of its size
 * events       record, preview              what clients are told
 * saved        record, ended                events of saved memories; heals the index after the loop
 * usage        record                       counts tokens
 * notes        record, sampled              counts what notes go by; starts an update that is due
 * recall       after, preview, joining, record, ended  searches beside the model, attaches what it finds
 * day          joining, record              tells the model that another day has begun
 * joining      joining, record              takes in messages that came meanwhile
 *
 * A turn begins and ends in `finish-turn.ts`, which also has what follows from its end (step 12); it
 * pauses in `pause-turn.ts`. `session/session-work.ts` runs them one after the other.
 */
export function turnHooks(
  session: SessionContext,
  of: Conversation,
  turn: Turn,
  state: TurnState,
  signal: AbortSignal,
  asked: Promise<void> | undefined,
): TurnHook[] {
  const { meta, memory } = of;
  const resumed = state.iteration > 0;
  const hooks = [
    progressHook(() => changeTurn(session.sql, turn.n, { deaths: 0 })),
    subrequestsHook(session.subrequests),
    spaceHook(session),
    lossesHook(session, of, asked),
    contextHook(session, { ...of, turn }, signal),
    eventsHook(session, turn),
    memory && savedHook(session, turn, memory, resumed),
    usageHook(session, "main", meta.model),
    notesHook(session, turn),
    // Before joining: what was recalled belongs to the turn's own question.
    recallHook(session, of, turn, state, signal),
    dayHook(session),
    meta.midTurnMessages === "join" ? joiningHook(session, turn, signal) : undefined,
  ];
  return hooks.filter((hook) => hook !== undefined);
}
