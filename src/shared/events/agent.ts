// What the agent says and does.

import * as z from "zod";
import { textBlock, turnEnvelope } from "./envelope.ts";

const message = z.strictObject({
  ...turnEnvelope,
  type: z.literal("agent.message"),
  content: z.array(textBlock),
});

/** That the model thought; what it thought is not told. */
const thinking = z.strictObject({ ...turnEnvelope, type: z.literal("agent.thinking") });

const toolInput = z.record(z.string(), z.unknown());

/** A call that waits for an answer says until when. */
const expiresAt = z.iso.datetime().optional();

const toolUse = z.strictObject({
  ...turnEnvelope,
  type: z.literal("agent.tool_use"),
  name: z.string(),
  input: toolInput,
  evaluated_permission: z.enum(["allow", "ask", "deny"]),
  expires_at: expiresAt,
});

const customToolUse = z.strictObject({
  ...turnEnvelope,
  type: z.literal("agent.custom_tool_use"),
  name: z.string(),
  input: toolInput,
  expires_at: expiresAt,
});

const toolResult = z.strictObject({
  ...turnEnvelope,
  type: z.literal("agent.tool_result"),
  /** Id of the event that announced the call. */
  tool_use_id: z.string(),
  content: z.array(textBlock),
  is_error: z.boolean(),
});

/** What the model sees of the conversation was shortened. */
const contextCompacted = z.strictObject({
  ...turnEnvelope,
  type: z.literal("agent.thread_context_compacted"),
  /** What asked for it: the size, a person, or a model that refused the prompt. */
  trigger: z.enum(["auto", "manual", "too_long"]),
  tokens_before: z.number(),
  tokens_after: z.number(),
  /** Whether the session's notes took the place of what was cut. */
  used_notes: z.boolean(),
});

export const agentEvents = [
  message,
  thinking,
  toolUse,
  customToolUse,
  toolResult,
  contextCompacted,
] as const;
