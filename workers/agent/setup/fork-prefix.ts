// What a fork shares with the conversation that it goes on from: the parent's own bytes, so that it
// reads the parent's prompt cache.

import { withWholePairs } from "../../../src/platform/threads/entries.ts";
import type { Scope } from "../../../src/platform/threads/view.ts";
import { readMessages, readViewed } from "../../../src/platform/threads/view.ts";
import type { AgentSettings } from "../../../src/platform/variables.ts";
import { shrink } from "../../../src/shared/compaction/shrink.ts";
import { messageTokens } from "../../../src/shared/compaction/size.ts";
import type { ForkPrefix } from "../../../src/shared/fork/forked-agent.ts";
import type { Message } from "../../../src/shared/loop/messages.ts";
import type { AgentEnv } from "../../env.ts";
import type { Meta } from "../rows/meta.ts";
import type { TurnMemory } from "./memory.ts";
import { limitsOf } from "./model-ports.ts";
import { sessionMounts } from "./session-mounts.ts";
import { sessionTools } from "./session-tools.ts";
import { promptOf } from "./system-prompt.ts";

interface PrefixPorts {
  sql: SqlStorage;
  env: Pick<AgentEnv, "FILES">;
  settings: AgentSettings;
  commit(write: () => void): void;
}

/** What the parent sent, until now or within this scope, byte for byte. */
export async function forkPrefix(
  ports: PrefixPorts,
  meta: Meta,
  memory: TurnMemory | undefined,
  scope: Scope = {},
): Promise<ForkPrefix> {
  const { answer, compactAt } = limitsOf(ports.settings, meta.model);
  return {
    model: meta.model,
    maxTokens: answer,
    system: await promptOf(ports, meta, memory),
    tools: sessionTools({ mounts: sessionMounts(ports, meta, memory), seen: new Map() }, meta),
    messages: fitting(ports.sql, scope, compactAt),
  };
}

/**
 * Word for word from the first turn that is asked for, behind what the parent was sent before it; where
 * that is too much, behind a word that something is left out.
 */
function fitting(sql: SqlStorage, scope: Scope, most: number): Message[] {
  const messages = readMessages(sql, scope);
  if (scope.fromTurn === undefined || messageTokens(messages) <= most) return messages;
  const { fromTurn, ...rest } = scope;
  const own = readViewed(sql, scope).placed.flatMap(({ turn, message }) =>
    turn >= fromTurn ? [message] : [],
  );
  // Thinking is bound to what stood before it.
  for (const results of [0, own.length]) {
    const shown = shrink(own, { results, thinking: own.length });
    const alone = withWholePairs([LEFT_OUT, ...shown]);
    if (messageTokens(alone) <= most) return alone;
  }
  return readMessages(sql, rest);
}

const LEFT_OUT: Message = {
  role: "user",
  content: [
    {
      type: "text",
      text: "<system-reminder>The beginning of this conversation is left out here.</system-reminder>",
    },
  ],
};
