// The bodies of the session endpoints. A known field that is not supported yet is refused by name.

import * as z from "zod";
import { isWorkspaceId, workspacePath } from "../../../src/platform/r2/mount-table.ts";
import {
  EVENTS_PER_SEND,
  METADATA_KEY_CHARACTERS,
  METADATA_PAIRS,
  METADATA_VALUE_CHARACTERS,
  TITLE_CHARACTERS,
} from "../../../src/shared/limits/http.ts";
import { canonicalPath } from "../../../src/shared/safety/path.ts";
import { clientEvent, initialEvent } from "../contract/client-events.ts";
import { agentTools } from "../contract/custom-tools.ts";
import { modeProblems } from "../contract/session-modes.ts";

export const sendBody = z.strictObject({
  events: z
    .array(clientEvent)
    .min(1, "is empty; send at least one event")
    .max(
      EVENTS_PER_SEND,
      `holds more than ${EVENTS_PER_SEND} events; send them in several requests`,
    ),
});

const metadata = z
  .record(z.string().min(1).max(METADATA_KEY_CHARACTERS), z.string().max(METADATA_VALUE_CHARACTERS))
  .refine(
    (pairs) => Object.keys(pairs).length <= METADATA_PAIRS,
    `holds more than ${METADATA_PAIRS} pairs`,
  )
  .superRefine((pairs, context) => {
    for (const { path, message } of modeProblems(pairs)) {
      context.addIssue({ code: "custom", path, message });
    }
  });

/** A field that may only be absent or empty: nothing of its kind exists yet. */
const unsupported = (what: string) =>
  z.union([z.null(), z.tuple([]), z.undefined()], `${what} are not supported`).optional();

const agentObject = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("agent"),
    id: z.string(),
    version: z.literal(1, "there is only version 1").optional(),
  }),
  z.strictObject({
    type: z.literal("agent_with_overrides"),
    id: z.string(),
    version: z.literal(1, "there is only version 1").optional(),
    model: z
      .union([z.string().min(1).max(200), z.strictObject({ id: z.string().min(1).max(200) })])
      .optional(),
    system: z.string().max(100_000).nullable().optional(),
    tools: agentTools.nullable().optional(),
    mcp_servers: unsupported("MCP servers"),
    skills: unsupported("skills"),
  }),
]);
const agent = z.union([z.string(), agentObject], "use an agent's id or an agent object");

export const createBody = z.strictObject({
  agent: agent.refine(
    (value) => (typeof value === "string" ? value : value.id) === "default",
    'there is no such agent; use "default"',
  ),
  environment_id: z
    .string()
    .refine(
      isWorkspaceId,
      "names the workspace: 1 to 64 letters, digits, dots, hyphens and underscores, a letter or digit first",
    ),
  title: z.string().max(TITLE_CHARACTERS).nullable().optional(),
  metadata: metadata.optional(),
  initial_events: z.array(initialEvent).max(EVENTS_PER_SEND).optional(),
  resources: unsupported("resources"),
  vault_ids: unsupported("vaults"),
  budget: unsupported("budgets"),
});

export type CreateBody = z.infer<typeof createBody>;

/**
 * The canonical root of a session's project: `metadata.project_root`, else the workspace itself.
 * Gives the reason where it is refused.
 */
export function projectRoot(body: CreateBody): { root: string } | { problem: string } {
  const raw = body.metadata?.project_root ?? workspacePath(body.environment_id);
  const path = canonicalPath(raw);
  if (path.status === "ok") return { root: path.path };
  return { problem: `metadata.project_root: ${path.message}` };
}
