import type { RequestKey } from "../../../src/platform/objects/account-rpc.ts";
import { variablesOf } from "../../../src/platform/variables.ts";
import type { AgentEnv } from "../../env.ts";
import type { ClientEvent } from "../contract/client-events.ts";
import { eventsById } from "../rows/events.ts";
import { earlierReply, keepReply } from "../rows/idempotency.ts";
import { requireSpace } from "../setup/space.ts";
import { acceptEvent } from "../turn/accept-event.ts";
import type { SessionWork } from "./session-work.ts";

interface Taking {
  sql: SqlStorage;
  env: AgentEnv;
  work: SessionWork;
  /** One transaction. */
  commit<T>(write: () => T): T;
  /** Throws where the session takes nothing any more. */
  requireOpen(): void;
}

/** Takes client events of an open session, and starts what follows; the JSON of the events, once they are on disk. */
export async function takeEvents(
  { sql, env, work, commit, requireOpen }: Taking,
  events: readonly ClientEvent[],
  request: RequestKey | undefined,
): Promise<string[]> {
  const earlier = earlierReply(sql, request);
  if (earlier !== undefined) return eventsById(sql, earlier.split(","));
  // Who answers or interrupts a turn helps to end it.
  if (events.some(({ type }) => type === "user.message")) {
    requireSpace({ sql, settings: variablesOf(env) });
    // Before anything is written: what a turn begins with is one write to the disk, without a wait in it.
    await work.settleLosses();
    requireOpen();
  }
  const stored = commit(() => {
    const now = Date.now();
    const begun = work.runningTurn();
    const accepted = events.map((event, n) =>
      acceptEvent(sql, event, now, { place: `events.${n}`, begun }),
    );
    keepReply(sql, request, accepted.map(({ id }) => id).join(","), now);
    return accepted;
  });
  if (events.some((event) => event.type === "user.interrupt")) work.interrupt();
  work.onRequest();
  work.startDue({ asked: true });
  return stored.map((event) => event.json);
}
