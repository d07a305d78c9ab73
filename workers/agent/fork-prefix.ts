// What a fork shares with the conversation that it goes on from: the parent's own bytes, so that it
// reads the parent's prompt cache.

import { agentMounts } from "../../src/platform/mount-table.ts";
import type { ForkPrefix } from "../../src/shared/fork/forked-agent.ts";
import { ANSWER_TOKENS } from "../../src/shared/limits.ts";
import type { AgentEnv } from "../env.ts";
import type { TurnMemory } from "./memory.ts";
import type { Meta } from "./meta.ts";
import { sessionTools } from "./session-tools.ts";
import { promptOf } from "./system-prompt.ts";
import { readTranscript } from "./transcript.ts";

interface PrefixPorts {
  sql: SqlStorage;
  env: Pick<AgentEnv, "FILES">;
  commit(write: () => void): void;
}

/** What the parent sent up to the end of a turn, or until now, byte for byte. */
export async function forkPrefix(
  ports: PrefixPorts,
  meta: Meta,
  memory: TurnMemory | undefined,
  lastTurn?: number,
): Promise<ForkPrefix> {
  const mounts = agentMounts(ports.env.FILES, meta, meta.environmentId, memory);
  return {
    model: meta.model,
    maxTokens: ANSWER_TOKENS,
    system: await promptOf(ports, meta, memory),
    tools: sessionTools({ mounts, seen: new Map() }, meta),
    messages: readTranscript(ports.sql, lastTurn),
  };
}
