// The bodies of the session endpoints. A known field that is not supported yet is refused by name.

import * as z from "zod";
import { isWorkspaceId, workspacePath } from "../../src/platform/mount-table.ts";
import {
  EVENTS_PER_SEND,
  METADATA_KEY_CHARACTERS,
  METADATA_PAIRS,
  METADATA_VALUE_CHARACTERS,
  TITLE_CHARACTERS,
} from "../../src/shared/limits.ts";
import { canonicalPath } from "../../src/shared/safety/path.ts";

const textBlock = z.strictObject({
  type: z.literal("text", "only text blocks are supported"),
  text: z.string().refine((text) => text.trim() !== "", "is empty; send at least one character"),
});

const userMessage = z.strictObject({
  type: z.literal("user.message"),
  content: z.array(textBlock).min(1, "is empty; send at least one text block").max(100),
});

const userInterrupt = z.strictObject({
  type: z.literal("user.interrupt"),
  session_thread_id: z.null().optional(),
});

const TYPES = ["user.message", "user.interrupt"];
const LATER = [
  "user.tool_confirmation",
  "user.custom_tool_result",
  "user.tool_result",
  "user.define_outcome",
  "system.message",
];

const clientEvent = z.discriminatedUnion("type", [userMessage, userInterrupt], {
  error: (issue) => eventTypeProblem(issue.input),
});

export type ClientEvent = z.infer<typeof clientEvent>;

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
  );

/** Nothing of this kind exists yet: only its absence is taken. */
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
    tools: unsupported("custom tools"),
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
  initial_events: z.array(clientEvent).max(EVENTS_PER_SEND).optional(),
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

function eventTypeProblem(input: unknown): string {
  const type: unknown =
    typeof input === "object" && input && "type" in input ? input.type : undefined;
  if (typeof type !== "string") return "type: is missing; an event needs a type";
  if (LATER.includes(type))
    return `type: "${type}" is not supported yet. There is: ${TYPES.join(", ")}`;
  return `type: "${type.slice(0, 60)}" is not a client event. There is: ${TYPES.join(", ")}`;
}
