// A session as the contract shows it (`BetaManagedAgentsSession` of the official SDK, with what is
// ours added). It has two parts: what is fixed at creation, and its state; the account keeps both for
// its list, so that nobody wakes a session to show it.

import * as z from "zod";
import type { ListedSession } from "../../../src/platform/objects/account-rpc.ts";
import { LISTED_BYTES } from "../../../src/shared/limits/http.ts";
import { byteLength } from "../../../src/shared/text/bytes.ts";
import { policyOf } from "../contract/session-modes.ts";
import { lastSeq } from "../rows/events.ts";
import type { Meta, SessionMemory } from "../rows/meta.ts";
import type { Turn } from "../rows/turns.ts";
import { usageSnapshot } from "../rows/usage.ts";
import { isPaused } from "../turn/pause-turn.ts";

/** How `fixedPart` begins as JSON. */
const FIXED_BEGIN = '{"id":';

/** What of a session changes; from it and the time follows what is shown. */
const stateSchema = z.object({
  /** Whether a turn is due, or runs: one that waits for answers is not. */
  due: z.boolean(),
  resumeAt: z.number().optional(),
  startedAt: z.number().optional(),
  activeMs: z.number(),
  createdAt: z.number(),
  updatedAt: z.number(),
  archivedAt: z.number().nullable(),
  /** It is shown no more. */
  deleting: z.boolean(),
  usage: z.record(z.string(), z.unknown()),
});

type SessionState = z.infer<typeof stateSchema>;

/** The JSON of a session. */
export function sessionShape(
  sql: SqlStorage,
  meta: Meta,
  turn: Turn | undefined,
  now: number,
): Record<string, unknown> {
  return { ...fixedPart(meta), ...changingPart(stateOf(sql, meta, turn), now) };
}

/** What the account is told of a session, with a number that grows with every change of it. */
export function listedState(sql: SqlStorage, meta: Meta, turn: Turn | undefined) {
  return {
    version: 4 * lastSeq(sql) + (meta.archivedAt === null ? 0 : 1) + (meta.deleting ? 2 : 0),
    state: JSON.stringify(stateOf(sql, meta, turn)),
  };
}

/** What never changes, for the account; undefined where it is too large to be kept twice. */
export function listedFixed(meta: Meta): string | undefined {
  const fixed = JSON.stringify(fixedPart(meta));
  return byteLength(fixed) <= LISTED_BYTES ? fixed : undefined;
}

/** A session in a list: its JSON as text, and what the list sorts it out by. */
export interface Listed {
  json: string;
  archived: boolean;
}

/**
 * A session by what its account knows. `ask`: only the session can tell. A list has thousands: what
 * never changes stays the text that it is, and what changes is put behind it.
 */
export function listedShape(
  { fixed, state }: Pick<ListedSession, "fixed" | "state">,
  now: number,
): Listed | "ask" | "hidden" {
  const known = state === null ? undefined : stateSchema.safeParse(JSON.parse(state)).data;
  if (known?.deleting) return "hidden";
  if (!known || !fixed?.startsWith(FIXED_BEGIN)) return "ask";
  const changing = JSON.stringify(changingPart(known, now));
  return {
    json: `${fixed.slice(0, -1)},${changing.slice(1)}`,
    archived: known.archivedAt !== null,
  };
}

function changingPart(state: SessionState, now: number): Record<string, unknown> {
  const running = state.startedAt === undefined ? 0 : now - state.startedAt;
  const activeSeconds = (state.activeMs + running) / 1000;
  return {
    status: statusOf(state, now),
    updated_at: iso(state.updatedAt),
    archived_at: state.archivedAt === null ? null : iso(state.archivedAt),
    stats: {
      active_seconds: activeSeconds,
      duration_seconds: (now - state.createdAt) / 1000,
    },
    usage: { active_seconds: activeSeconds, ...state.usage },
  };
}

function statusOf({ due, resumeAt }: SessionState, now: number) {
  if (!due) return "idle";
  return resumeAt !== undefined && resumeAt > now ? "rescheduling" : "running";
}

function stateOf(sql: SqlStorage, meta: Meta, turn: Turn | undefined): SessionState {
  return {
    due: turn !== undefined && !isPaused(sql, turn),
    resumeAt: turn?.resumeAt,
    startedAt: turn?.startedAt,
    activeMs: meta.activeMs,
    createdAt: meta.createdAt,
    updatedAt: meta.updatedAt,
    archivedAt: meta.archivedAt,
    deleting: meta.deleting,
    usage: { ...usageSnapshot(sql) },
  };
}

function fixedPart(meta: Meta): Record<string, unknown> {
  return {
    id: meta.id,
    type: "session",
    title: meta.title,
    agent: agentShape(meta),
    environment_id: meta.environmentId,
    metadata: meta.metadata,
    created_at: iso(meta.createdAt),
    budget: null,
    deployment_id: null,
    outcome_evaluations: [],
    resources: [],
    vault_ids: [],
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

/** A session that was made, and what its account is to know of it. */
export interface Created {
  shape: Record<string, unknown>;
  listed: ListedSession;
}
