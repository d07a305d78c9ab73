// What the work queue brings to sessions. A message is a hint that something is due; the session knows
// what, and whether it still is.

import { errorName, log } from "../../src/platform/log.ts";
import type { ExtractWork, WorkHandler, WorkReply } from "../../src/platform/queue.ts";
import { sendWork } from "../../src/platform/queue.ts";
import { EXTRACTIONS_IN_A_ROW } from "../../src/shared/limits.ts";
import type { AgentEnv } from "../env.ts";
import { sessionStub } from "./stubs.ts";

/** Handles the messages of the work queue. */
export function workHandler(env: AgentEnv): WorkHandler {
  return {
    run: (message) => extractInTurn(env, message),
    giveUp: async ({ tenant, user, session }) => {
      await sessionStub(env, { tenant, user }, session).dropExtraction();
    },
  };
}

/**
 * Runs the extraction of a session, then those of the sessions that waited for the same memory. One
 * whose model fails comes back by itself: when is on its disk.
 */
async function extractInTurn(env: AgentEnv, message: ExtractWork): Promise<WorkReply> {
  const { tenant, user, store } = message;
  const first = await sessionStub(env, { tenant, user }, message.session).extract(message);
  let next = "next" in first ? first.next : null;
  for (let served = 1; next !== null; served += 1) {
    const work: ExtractWork = { kind: "extract", tenant, user, store, session: next };
    if (served >= EXTRACTIONS_IN_A_ROW) {
      await sendWork(env.WORK, work);
      break;
    }
    next = await extractNext(env, work);
  }
  return { status: "done" };
}

/** Another session's failure is its own: its message, or its alarm, comes again. */
async function extractNext(env: AgentEnv, work: ExtractWork): Promise<string | null> {
  const { tenant, user, session } = work;
  try {
    const reply = await sessionStub(env, { tenant, user }, session).extract(work);
    return "next" in reply ? reply.next : null;
  } catch (error) {
    log("extraction.next_failed", { session, error: errorName(error) });
    return null;
  }
}
