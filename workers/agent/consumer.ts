// What the work queue brings to sessions. A message is a hint that something is due; the session knows
// what, and whether it still is.

import { errorName, log } from "../../src/platform/log.ts";
import { memdirStub } from "../../src/platform/memdir-rpc.ts";
import type { ExtractWork, WorkHandler, WorkReply } from "../../src/platform/queue.ts";
import { sendWork } from "../../src/platform/queue.ts";
import { EXTRACTIONS_IN_A_ROW } from "../../src/shared/limits.ts";
import type { AgentEnv } from "../env.ts";
import type { ExtractReply } from "./extract.ts";
import { sessionStub } from "./stubs.ts";

/** A lease that is given back at once, in milliseconds. */
const LOOK_MS = 5_000;

/** Handles the messages of the work queue. */
export function workHandler(env: AgentEnv): WorkHandler {
  return {
    run: (message) => extractInTurn(env, message),
    giveUp: async ({ tenant, user, session, upTo }) => {
      // One without a number only said that a session's turn has come; it asks again by itself.
      if (upTo === undefined) return;
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
  let next = await nextAfter(env, message, first);
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
    return await nextAfter(env, work, reply);
  } catch (error) {
    log("extraction.next_failed", { session, error: errorName(error) });
    return null;
  }
}

/**
 * Who comes after a session. One whose turn had come and who has nothing to do any more, or is gone,
 * took no lease and names nobody: then the memory itself is asked, lest those behind it be forgotten.
 */
async function nextAfter(
  env: AgentEnv,
  { tenant, user, store, upTo }: ExtractWork,
  reply: ExtractReply,
): Promise<string | null> {
  if ("next" in reply) return reply.next;
  if (reply.status !== "none" || upTo !== undefined) return null;
  const memory = memdirStub(env, { tenant, user }, store);
  const lease = await memory.acquire("extraction", crypto.randomUUID(), LOOK_MS);
  if (!lease.ok || lease.value.status !== "granted") return null;
  const next = await memory.release("extraction", lease.value.token);
  return next.ok ? next.value : null;
}
