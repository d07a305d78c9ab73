// What the work queue brings to sessions. A message is a hint that something is due; the session knows
// what, and whether it still is. It goes on by itself: no message is held for as long as a model talks.

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
      // One without a number only said that a session's turn has come; it asks again by itself.
      if (message.upTo === undefined) return;
      await sessionStub(env, message, message.session).dropExtraction(message.upTo);
    },
  };
}
