// What the work queue brings to sessions. A message is a hint that something is due: the session knows
// what, and whether it still is, and works on by itself. No message waits for a model.

import type { WorkHandler } from "../../../src/platform/queue.ts";
import type { AgentEnv } from "../../env.ts";
import { sessionStub } from "../session/stubs.ts";

/** Handles the messages of the work queue. */
export function workHandler(env: AgentEnv): WorkHandler {
  return {
    run: async (message) => {
      await sessionStub(env, message, message.session).extract(message);
      return { status: "done" };
    },
    giveUp: async (message) => {
      // One without a number only says that it is a session's turn; the session asks again by itself.
      if (message.upTo === undefined) return;
      await sessionStub(env, message, message.session).dropExtraction(message.upTo);
    },
  };
}
