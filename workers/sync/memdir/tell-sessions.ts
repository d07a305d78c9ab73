import { errorName, log } from "../../../src/platform/log.ts";
import type { StoreMeta } from "../../../src/platform/objects/memdir-rpc.ts";
import { sendWork } from "../../../src/platform/queue.ts";
import type { SyncEnv } from "../../env.ts";

/**
 * Lets the sessions of a store's owner know that something was redacted. Never throws: each session asks
 * by itself before it sends or shows anything; this is for those that nobody opens again.
 */
export async function tellSessions(
  { WORK }: Pick<SyncEnv, "WORK">,
  { id, owner }: StoreMeta,
): Promise<void> {
  if (owner.type !== "user") return;
  const { tenant, user } = owner;
  try {
    await sendWork(WORK, { kind: "erase", tenant, user, store: id });
  } catch (error) {
    log("memdir.sessions_not_told", { error: errorName(error) });
  }
}
