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
}

/** Takes client events of an open session, and starts what follows; the JSON of the events, once they are on disk. */
export function takeEvents(
  { sql, env, work, commit }: Taking,
  events: readonly ClientEvent[],
  request: RequestKey | undefined,
): string[] {
  const earlier = earlierReply(sql, request);
  if (earlier !== undefined) return eventsById(sql, earlier.split(","));
  // Who answers or interrupts a turn helps to end it.
  let asked: Promise<void> | undefined;
  if (events.some(({ type }) => type === "user.message")) {
    requireSpace({ sql, settings: variablesOf(env) });
    // Before anything is written: what goes out after that waits for the disk.
    asked = work.settleLosses();
    // Whoever needs the answer waits for it.
    asked.catch(() => {});
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
  work.startDue(asked);
  return stored.map((event) => event.json);
}
