import * as z from "zod";

// The schemas check the shape of a request. Objects are strict where the API refuses extra keys. The
// schemas transform nothing: the parsed request IS the received one, so that the meter hashes the
// bytes in the order in which they came.

const record = z.record(z.string(), z.unknown());
const cacheControl = z.strictObject({
  type: z.literal("ephemeral"),
  ttl: z.enum(["5m", "1h"]).optional(),
});
const marker = { cache_control: cacheControl.nullish() };

const textBlock = z.strictObject({
  type: z.literal("text"),
  text: z.string(),
  citations: z.array(z.unknown()).nullish(),
  ...marker,
});
const toolUseBlock = z.strictObject({
  type: z.literal("tool_use"),
  id: z.string().regex(/^[a-zA-Z0-9_-]+$/),
  name: z.string().min(1).max(200),
  input: record,
  caller: record.optional(),
  toolset_name: z.string().nullish(),
  ...marker,
});
const thinkingBlock = z.strictObject({
  type: z.literal("thinking"),
  thinking: z.string(),
  signature: z.string(),
  cache_control: z.never().optional(),
});
const redactedBlock = z.strictObject({
  type: z.literal("redacted_thinking"),
  data: z.string(),
  cache_control: z.never().optional(),
});

// Accepted as they are: the fake model has no story for them but must not refuse what the API takes.
const OPAQUE = [
  "image",
  "document",
  "search_result",
  "container_upload",
  "server_tool_use",
  "web_search_tool_result",
  "web_fetch_tool_result",
  "code_execution_tool_result",
  "bash_code_execution_tool_result",
  "text_editor_code_execution_tool_result",
  "tool_search_tool_result",
  "mcp_tool_use",
  "mcp_tool_result",
  "tool_reference",
  "tool_addition",
  "tool_removal",
] as const;
const opaqueBlock = z.looseObject({ type: z.enum(OPAQUE), ...marker });

const toolResultBlock = z.strictObject({
  type: z.literal("tool_result"),
  tool_use_id: z.string().regex(/^[a-zA-Z0-9_-]+$/),
  content: z
    .union([z.string(), z.array(z.discriminatedUnion("type", [textBlock, opaqueBlock]))])
    .optional(),
  is_error: z.boolean().optional(),
  toolset_name: z.string().nullish(),
  ...marker,
});

const block = z.discriminatedUnion("type", [
  textBlock,
  toolUseBlock,
  toolResultBlock,
  thinkingBlock,
  redactedBlock,
  opaqueBlock,
]);
const message = z.strictObject({
  role: z.enum(["user", "assistant", "system"]),
  content: z.union([z.string(), z.array(block)]),
  clear_at: z.enum(["next_user_message", "never"]).optional(),
  output_config: record.optional(),
});

const customTool = z.strictObject({
  type: z.literal("custom").nullish(),
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/),
  description: z.string().optional(),
  input_schema: z.looseObject({ type: z.literal("object") }),
  strict: z.boolean().optional(),
  defer_loading: z.boolean().optional(),
  allowed_callers: z.array(z.string()).optional(),
  input_examples: z.array(record).optional(),
  eager_input_streaming: z.boolean().nullish(),
  ...marker,
});
const builtInTool = z.looseObject({
  type: z.string().regex(/_\d{8}$|^mcp_toolset$/),
  name: z.string().optional(),
  ...marker,
});

const binding = z.strictObject({
  prefix_mismatch_behavior: z.enum(["error", "drop_block"]).nullish(),
});
const thinkingShape = {
  display: z.enum(["summarized", "omitted", "updates"]).nullish(),
  block_binding: binding.nullish(),
};
const thinking = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("adaptive"), ...thinkingShape }),
  z.strictObject({
    type: z.literal("enabled"),
    budget_tokens: z.int().min(1024),
    ...thinkingShape,
  }),
  z.strictObject({ type: z.literal("disabled") }),
  z.strictObject({ type: z.literal("between_tools") }),
]);

const parallel = { disable_parallel_tool_use: z.boolean().optional() };
const toolChoice = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("auto"), ...parallel }),
  z.strictObject({ type: z.literal("any"), ...parallel }),
  z.strictObject({ type: z.literal("tool"), name: z.string(), ...parallel }),
  z.strictObject({ type: z.literal("none") }),
]);

const format = z.strictObject({ type: z.literal("json_schema"), schema: record });

// What messages and count_tokens have in common.
const prompt = {
  model: z.string().min(1),
  messages: z.array(message),
  system: z.union([z.string(), z.array(textBlock)]).optional(),
  tools: z.array(z.union([customTool, builtInTool])).optional(),
  tool_choice: toolChoice.optional(),
  thinking: thinking.optional(),
  output_config: z
    .strictObject({
      effort: z.enum(["low", "medium", "high", "xhigh", "max"]).nullish(),
      format: format.nullish(),
      task_budget: record.nullish(),
    })
    .optional(),
  output_format: format.nullish(),
  cache_control: cacheControl.nullish(),
  speed: z.enum(["standard", "fast"]).nullish(),
  context_management: record.nullish(),
  mcp_servers: z.array(record).optional(),
};

export const countSchema = z.strictObject(prompt);

export const messagesSchema = z.strictObject({
  ...prompt,
  max_tokens: z.int().min(0),
  stream: z.boolean().optional(),
  stop_sequences: z.array(z.string().min(1)).optional(),
  metadata: z.strictObject({ user_id: z.string().nullish() }).optional(),
  container: z.union([z.string(), record]).nullish(),
  diagnostics: z.strictObject({ previous_message_id: z.string().nullish() }).nullish(),
  inference_geo: z.string().nullish(),
  service_tier: z.enum(["auto", "standard_only"]).optional(),
  user_profile_id: z.string().optional(),
  workspace_id: z.string().optional(),
  billing_policy: z.unknown().optional(),
  fallbacks: z.unknown().optional(),
  fallback_credit_token: z.unknown().optional(),
  // The API knows them, check-settings.ts refuses them by name: ignoring them would change the answer.
  compaction: z.unknown().optional(),
  thread: z.unknown().optional(),
});

/** Both endpoints' requests; count_tokens simply has no max_tokens. */
export type Prompt = z.infer<typeof countSchema>;
export type MessagesRequest = z.infer<typeof messagesSchema>;
export type Message = Prompt["messages"][number];
export type Block = z.infer<typeof block>;
export type CacheControl = z.infer<typeof cacheControl>;
export type Tool = NonNullable<Prompt["tools"]>[number];
export type Role = Message["role"];
