// What the work queue brings to sessions. A message is a hint that something is due: the session knows
// what, and whether it still is, and works on by itself. No message waits for a model.

import { accountStub } from "../../../src/platform/objects/account-rpc.ts";
import type { EraseWork, WorkHandler } from "../../../src/platform/queue.ts";
import { sendWork } from "../../../src/platform/queue.ts";
import type { AgentEnv } from "../../env.ts";
import { sessionStub } from "../session/stubs.ts";

/** Handles the messages of the work queue. */
export function workHandler(env: AgentEnv): WorkHandler {
  return {
    run: async (message) => {
      if (message.kind === "erase") {
        await eraseInSessions(env, message);
        return { status: "done" };
      }
      await sessionStub(env, message, message.session).extract(message);
      return { status: "done" };
    },
    giveUp: async (message) => {
      // Each session asks by itself as soon as somebody opens it.
      if (message.kind === "erase") return;
      // One without a number only says that it is a session's turn; the session asks again by itself.
      if (message.upTo === undefined) return;
      await sessionStub(env, message, message.session).dropExtraction(message.upTo);
    },
  };
}

/** Sessions that one message tells; the next one tells those after them. */
const SESSIONS_A_MESSAGE = 50;
/** Sessions that are awake for it at once. */
const AT_ONCE = 5;

async function eraseInSessions(env: AgentEnv, work: EraseWork): Promise<void> {
  const rows = await accountStub(env, work).list({
    limit: SESSIONS_A_MESSAGE,
    order: "asc",
    after: work.after,
  });
  for (let n = 0; n < rows.length; n += AT_ONCE) {
    const some = rows.slice(n, n + AT_ONCE);
    await Promise.all(some.map(({ id }) => sessionStub(env, work, id).settleLosses(work.store)));
  }
  const last = rows.at(-1);
  if (!last || rows.length < SESSIONS_A_MESSAGE) return;
  await sendWork(env.WORK, { ...work, after: { id: last.id, createdAt: last.createdAt } });
}
