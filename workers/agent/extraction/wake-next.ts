import { errorName, log } from "../../../src/platform/log.ts";
import { memdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { sessionPeer } from "../../../src/platform/objects/session-rpc.ts";
import { userOwner } from "../../../src/platform/objects/store-owner.ts";
import type { AgentEnv } from "../../env.ts";
import { readMeta } from "../rows/meta.ts";
import type { SessionContext } from "../setup/session-context.ts";

/** A lease that is given back at once, in milliseconds. */
const LOOK_MS = 5_000;

/**
 * Wakes the session whose turn at the memory has come. One that has nothing to do any more, or is
 * gone, takes no lease and names nobody: then the memory is asked who comes after it. Never throws:
 * whoever is not woken asks again by itself.
 */
export async function wakeNext(
  { sql, env }: Pick<SessionContext, "sql" | "env">,
  session: string,
): Promise<void> {
  try {
    const { tenant, user, memory } = readMeta(sql);
    if (!memory.enabled) return;
    const owner = { tenant, user };
    const { storeId: store } = memory;
    for (let next: string | null = session; next !== null; ) {
      const { status } = await sessionPeer(env, owner, next).extract({ store });
      next = status === "none" ? await nextAfter(env, owner, store) : null;
    }
  } catch (error) {
    log("extraction.next_not_told", { session, error: errorName(error) });
  }
}

async function nextAfter(
  env: Pick<AgentEnv, "MEMDIR">,
  owner: { tenant: string; user: string },
  store: string,
): Promise<string | null> {
  const memory = memdirStub(env, userOwner(owner), store);
  const lease = await memory.acquire("extraction", crypto.randomUUID(), LOOK_MS);
  if (!lease.ok || lease.value.status !== "granted") return null;
  const next = await memory.release("extraction", lease.value.token);
  return next.ok ? next.value : null;
}
