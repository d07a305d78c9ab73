import { env } from "cloudflare:test";
import { forgetState, transaction } from "../../../src/platform/state.ts";
import { variablesOf } from "../../../src/platform/variables.ts";
import type { SessionContext } from "../setup/session-context.ts";

/** The model's server of tests. */
export const MODEL = {
  ANTHROPIC_API_KEY: "demo-model",
  ANTHROPIC_BASE_URL: "http://model.test",
};

/** What a session's object hands to what it does, in that object; some of it in another way. */
export function contextOf(
  storage: DurableObjectStorage,
  more: Partial<SessionContext> = {},
): SessionContext {
  // An instance begins with what is on disk.
  forgetState(storage.sql);
  return {
    sql: storage.sql,
    env,
    settings: { ...variablesOf(env), ...MODEL },
    commit: (write) => transaction(storage, write),
    preview: () => {},
    now: () => Date.now(),
    overBudget: async () => false,
    settleLosses: async () => {},
    waitUntil: () => {},
    ended: () => {},
    subrequests: { used: 0 },
    notes: { look: () => {}, inFlight: () => undefined, stop: () => {} },
    ...more,
  };
}
