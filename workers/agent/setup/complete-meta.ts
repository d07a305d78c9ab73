import { ownTimeZone } from "../../../src/platform/r2/settings-files.ts";
import { variablesOf } from "../../../src/platform/variables.ts";
import type { AgentEnv } from "../../env.ts";
import { DEFAULT_ZONE, isBare } from "../contract/session-modes.ts";
import type { Meta, NewMeta } from "../rows/meta.ts";
import { openMemory } from "./memory.ts";

/**
 * Finds what a new session keeps for good: its memory, and its time zone, which is what its metadata says,
 * else its user's settings, else UTC. Throws `unavailable` where the storage cannot say.
 */
export async function completeMeta(env: AgentEnv, meta: NewMeta): Promise<Meta> {
  const place = { ...meta, bare: isBare(meta.metadata) };
  const [memory, zone] = await Promise.all([
    openMemory(env, meta, place, variablesOf(env)),
    meta.metadata.time_zone ?? ownTimeZone(env.FILES, meta),
  ]);
  return { ...meta, memory, timeZone: zone ?? DEFAULT_ZONE };
}
