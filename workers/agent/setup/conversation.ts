import { agentMounts } from "../../../src/platform/r2/mount-table.ts";
import { limitsOf } from "../../../src/platform/threads/loop-ports.ts";
import { knownFiles } from "../../../src/platform/threads/read-files.ts";
import { storedResultsMount } from "../../../src/platform/threads/stored-results.ts";
import type { Thread } from "../../../src/platform/threads/thread.ts";
import type { ContextLimits } from "../../../src/shared/compaction/context-limits.ts";
import { fixedTokens } from "../../../src/shared/compaction/size.ts";
import type { Mounts } from "../../../src/shared/files/mounts.ts";
import type { Tool } from "../../../src/shared/loop/tool.ts";
import type { Meta } from "../rows/meta.ts";
import { readMeta } from "../rows/meta.ts";
import { mainThread } from "../rows/session-threads.ts";
import type { TurnMemory } from "./memory.ts";
import { turnMemory } from "./memory.ts";
import type { SessionContext } from "./session-context.ts";
import { sessionTools } from "./session-tools.ts";
import { promptOf } from "./system-prompt.ts";

/** A session's conversation as its turns, its compactions and its forks find it. */
export interface Conversation {
  thread: Thread;
  meta: Meta;
  memory: TurnMemory | undefined;
  /** What the agent sees. */
  mounts: Mounts;
  system: readonly string[];
  tools: readonly Tool[];
  limits: ContextLimits;
  /** What stands before the messages of every request, in tokens by its bytes. */
  fixed: number;
}

/** A turn as events name it. */
export interface TurnRef {
  n: number;
  /** Id of its `user.message` event. */
  eventId: string;
}

/** By the prompt: a session's tools never change either. */
const fixedOf = new WeakMap<readonly string[], number>();

/**
 * Opens it, without what is erased by now; a turn looks after that itself, when its model is asked. The
 * prompt is made with the first call, and is the same bytes ever after.
 */
export async function openConversation(
  session: SessionContext,
  as?: "turn",
): Promise<Conversation> {
  const { sql, env, settings } = session;
  if (as !== "turn") await session.settleLosses();
  const meta = readMeta(sql);
  const thread = mainThread(sql);
  const memory = turnMemory(env, meta, meta.id, meta.memory);
  const mounts = sessionMounts(session, meta, memory);
  const system = await promptOf(session, meta, memory);
  const tools = sessionTools({ mounts, seen: knownFiles(thread) }, meta);
  const limits = limitsOf(settings, meta.model);
  const fixed = fixedOf.get(system) ?? fixedTokens(system, tools);
  fixedOf.set(system, fixed);
  return { thread, meta, memory, mounts, system, tools, limits, fixed };
}

/** What an agent of the session sees, the stored results of its calls among it. */
export function sessionMounts(
  { sql, env }: Pick<SessionContext, "sql" | "env">,
  meta: Meta,
  memory: TurnMemory | undefined,
): Mounts {
  const own = [storedResultsMount(sql)];
  return agentMounts(env.FILES, meta, meta.environmentId, memory, own);
}
