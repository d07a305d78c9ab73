// A session as the contract shows it (`BetaManagedAgentsSession` of the official SDK, with what is
// ours added).

import { policyOf } from "../contract/session-modes.ts";
import type { Meta, SessionMemory } from "../rows/meta.ts";
import type { Turn } from "../rows/turns.ts";
import { usageSnapshot } from "../rows/usage.ts";
import { isPaused } from "../turn/pause-turn.ts";

type SessionStatus = "idle" | "running" | "rescheduling";

/** The status that follows from the turn that is due, unless it waits for answers. */
function statusOf(turn: Turn | undefined, now: number): SessionStatus {
  if (!turn) return "idle";
  return turn.resumeAt !== undefined && turn.resumeAt > now ? "rescheduling" : "running";
}

/** The JSON of a session. */
export function sessionShape(
  sql: SqlStorage,
  meta: Meta,
  turn: Turn | undefined,
  now: number,
): Record<string, unknown> {
  const running = turn?.startedAt === undefined ? 0 : now - turn.startedAt;
  const activeSeconds = (meta.activeMs + running) / 1000;
  return {
    id: meta.id,
    type: "session",
    title: meta.title,
    status: isPaused(sql, turn) ? "idle" : statusOf(turn, now),
    agent: agentShape(meta),
    environment_id: meta.environmentId,
    metadata: meta.metadata,
    created_at: iso(meta.createdAt),
    updated_at: iso(meta.updatedAt),
    archived_at: meta.archivedAt === null ? null : iso(meta.archivedAt),
    budget: null,
    deployment_id: null,
    outcome_evaluations: [],
    resources: [],
    vault_ids: [],
    stats: {
      active_seconds: activeSeconds,
      duration_seconds: (now - meta.createdAt) / 1000,
    },
    usage: { active_seconds: activeSeconds, ...usageSnapshot(sql) },
    auto_memory: memoryShape(meta.memory),
  };
}

/** Whether the session has auto memory, by which rule, and where it lies. */
function memoryShape(memory: SessionMemory): Record<string, unknown> {
  return {
    enabled: memory.enabled,
    rule: memory.rule,
    directory: memory.enabled ? memory.directory : null,
    store_id: memory.enabled ? memory.storeId : null,
    ignored: memory.ignored,
  };
}

function agentShape(meta: Meta): Record<string, unknown> {
  const policy = { type: policyOf(meta.permissionMode) };
  return {
    id: "default",
    type: "agent",
    name: "default",
    description: null,
    version: 1,
    model: { id: meta.model },
    system: meta.system,
    tools: [
      {
        type: "agent_toolset_20260401",
        configs: [],
        default_config: { enabled: true, permission_policy: policy },
      },
      ...meta.clientTools.map((tool) => ({ type: "custom", ...tool })),
    ],
    mcp_servers: [],
    skills: [],
    multiagent: null,
    execution_identity: { type: "service_account" },
  };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
