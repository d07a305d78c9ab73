import { agentMounts } from "../../../src/platform/r2/mount-table.ts";
import type { Mounts } from "../../../src/shared/files/mounts.ts";
import type { AgentEnv } from "../../env.ts";
import type { Meta } from "../rows/meta.ts";
import { keptMount } from "../rows/stored-results.ts";
import type { TurnMemory } from "./memory.ts";

/** What the agent of a session sees, its own results of earlier calls among it. */
export function sessionMounts(
  { sql, env }: { sql: SqlStorage; env: Pick<AgentEnv, "FILES"> },
  meta: Meta,
  memory: TurnMemory | undefined,
): Mounts {
  return agentMounts(env.FILES, meta, meta.environmentId, memory, [keptMount(sql)]);
}
