import { checkText } from "./check-messages.ts";
import type { ModelFacts } from "./models.ts";
import { formatOf } from "./render.ts";
import type { MessagesRequest, Prompt, Tool } from "./wire.ts";

/** The rules of everything beside the messages; undefined when all hold. */
export function checkSettings(request: Prompt, model: ModelFacts): string | undefined {
  return (
    checkUnimplemented(request) ??
    checkMaxTokens(request, model) ??
    checkSystem(request) ??
    checkTools(request.tools ?? []) ??
    checkToolChoice(request) ??
    checkFormat(request)
  );
}

// Known parameters that would change the answer: to ignore them would be a quiet lie.
function checkUnimplemented(request: Partial<MessagesRequest>): string | undefined {
  for (const name of ["thread", "compaction"] as const) {
    if (request[name] != null) return `${name}: not implemented by the demo model`;
  }
  return undefined;
}

function checkMaxTokens(
  request: Prompt & Partial<MessagesRequest>,
  model: ModelFacts,
): string | undefined {
  const { max_tokens: limit, thinking } = request;
  if (limit === undefined) return undefined;
  if (limit > model.maxOutputTokens) {
    return (
      `max_tokens: ${limit} > ${model.maxOutputTokens}, which is the maximum allowed number of ` +
      `output tokens for ${model.id}`
    );
  }
  if (thinking?.type === "enabled" && thinking.budget_tokens >= limit) {
    return "thinking.enabled.budget_tokens: must be less than `max_tokens`";
  }
  if (limit > 0) return undefined;
  const choice = request.tool_choice?.type;
  if (request.stream) return "max_tokens: must be greater than 0 when `stream` is true";
  if (thinking?.type === "enabled") return "max_tokens: must be greater than 0 with `thinking`";
  if (formatOf(request)) return "max_tokens: must be greater than 0 with `output_config.format`";
  if (choice === "any" || choice === "tool") {
    return "max_tokens: must be greater than 0 when `tool_choice` forces tool use";
  }
  return undefined;
}

function checkSystem(request: Prompt): string | undefined {
  if (!Array.isArray(request.system)) return undefined;
  for (const [index, block] of request.system.entries()) {
    const problem = checkText(block, `system.${index}`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function checkTools(tools: readonly Tool[]): string | undefined {
  const names = new Set<string>();
  for (const { name } of tools) {
    if (name === undefined) continue;
    if (names.has(name)) return `tools: Tool names must be unique: ${name}`;
    names.add(name);
  }
  return undefined;
}

function checkToolChoice(request: Prompt): string | undefined {
  const choice = request.tool_choice;
  if (!choice) return undefined;
  const tools = request.tools ?? [];
  if (tools.length === 0) return "tool_choice: may only be specified while providing `tools`";
  if (choice.type === "tool" && !tools.some(({ name }) => name === choice.name)) {
    return `tool_choice.name: Tool '${choice.name}' not found in provided tools`;
  }
  const forced = choice.type === "tool" || choice.type === "any";
  if (forced && request.thinking && request.thinking.type !== "disabled") {
    return "thinking: Thinking may not be enabled when tool_choice forces tool use.";
  }
  return undefined;
}

const UNSUPPORTED_KEYWORDS = [
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "maxItems",
];

function checkFormat(request: Prompt): string | undefined {
  const format = formatOf(request);
  return format && checkSchema(format.schema, "output_config.format.schema");
}

function checkSchema(schema: unknown, path: string): string | undefined {
  if (typeof schema !== "object" || schema === null) return undefined;
  const { type, additionalProperties } = schema as Record<string, unknown>;
  if (type === "object" && additionalProperties !== false) {
    return `${path}: For 'object' type, 'additionalProperties' must be explicitly set to false`;
  }
  // Only where a type stands is it a schema; elsewhere the key may be the name of a property.
  const refused = type && UNSUPPORTED_KEYWORDS.find((keyword) => keyword in schema);
  if (refused && typeof type === "string") {
    return `${path}: For '${type}' type, property '${refused}' is not supported`;
  }
  for (const [key, inner] of Object.entries(schema)) {
    const problem = checkSchema(inner, `${path}.${key}`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
