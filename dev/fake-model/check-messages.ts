import {
  blocksOf,
  endsInServerTool,
  type PlacedBlock,
  type Turn,
  turnsOf,
} from "./conversation.ts";
import type { ModelFacts } from "./models.ts";
import type { Block, Message } from "./wire.ts";

/** The rules between messages: content, roles, and tool calls with their results. */
export function checkMessages(messages: readonly Message[], model: ModelFacts): string | undefined {
  if (messages.length === 0) return "messages: at least one message is required";
  const turns = turnsOf(messages);
  return (
    checkContent(messages) ??
    checkRoles(turns, model) ??
    checkToolUses(turns) ??
    checkResults(turns)
  );
}

function checkContent(messages: readonly Message[]): string | undefined {
  for (const [index, message] of messages.entries()) {
    const path = `messages.${index}`;
    if (message.content.length === 0) {
      return message.role === "assistant"
        ? `${path}: all messages must have non-empty content except for the optional final ` +
            "assistant message"
        : `${path}: ${message.role} messages must have non-empty content`;
    }
    for (const [position, block] of blocksOf(message).entries()) {
      const place = typeof message.content === "string" ? path : `${path}.content.${position}`;
      const problem = checkText(block, place) ?? checkPlace(block, message, place);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

export function checkText(block: Block, path: string): string | undefined {
  if (block.type === "tool_result" && Array.isArray(block.content)) {
    const empty = block.content.findIndex((part) => part.type === "text" && part.text === "");
    if (empty < 0) return undefined;
    return `${path}.content.${empty}.text: text content blocks must be non-empty`;
  }
  if (block.type !== "text") return undefined;
  if (block.text === "") {
    return block.cache_control
      ? `${path}.text: cache_control cannot be set for empty text blocks`
      : `${path}.text: text content blocks must be non-empty`;
  }
  if (block.text.trim() !== "") return undefined;
  return `${path}.text: text content blocks must contain non-whitespace text`;
}

function checkPlace(block: Block, message: Message, path: string): string | undefined {
  const { role } = message;
  if (role === "system" && !["text", "tool_addition", "tool_removal"].includes(block.type)) {
    return `${path}: messages with role \`system\` may hold text only, not \`${block.type}\``;
  }
  if (block.type === "tool_result" && role !== "user") {
    return `${path}: \`tool_result\` blocks can only be in \`user\` messages`;
  }
  const ofAssistant = ["tool_use", "thinking", "redacted_thinking"].includes(block.type);
  if (ofAssistant && role !== "assistant") {
    return `${path}: \`${block.type}\` blocks can only be in \`assistant\` messages`;
  }
  return undefined;
}

function checkRoles(turns: readonly Turn[], model: ModelFacts): string | undefined {
  if (turns[0]?.role !== "user") {
    return 'messages.0: first message must use the "user" role';
  }
  for (const [index, turn] of turns.entries()) {
    if (turn.role !== "system") continue;
    const before = turns[index - 1];
    const after = turns[index + 1];
    if (!model.midSystem) {
      return `${turn.path}: role \`system\` is not supported by model ${model.id}`;
    }
    if (before?.role !== "user" && !(before && endsInServerTool(before))) {
      return `${turn.path}: a \`system\` message must follow a \`user\` message`;
    }
    if (after && after.role !== "assistant") {
      return `${turn.path}: a \`system\` message must be last or be followed by an \`assistant\` message`;
    }
  }
  const last = turns.at(-1);
  if (last?.role !== "assistant" || endsInServerTool(last)) return undefined;
  return (
    `${last.path}: This model does not support assistant message prefill. ` +
    "The conversation must end with a user message."
  );
}

function checkToolUses(turns: readonly Turn[]): string | undefined {
  const seen = new Set<string>();
  for (const [index, turn] of turns.entries()) {
    const uses = turn.blocks.filter(({ block }) => block.type === "tool_use");
    if (uses.length === 0) continue;
    for (const { block, path } of uses) {
      if (block.type !== "tool_use") continue;
      if (seen.has(block.id)) return `${path}.id: \`tool_use\` ids must be unique: ${block.id}`;
      seen.add(block.id);
    }
    const answered = leadingResults(turns[index + 1]);
    const open = uses.flatMap(({ block }) =>
      block.type === "tool_use" && !answered.has(block.id) ? [block.id] : [],
    );
    if (open.length === 0) continue;
    return (
      `${turn.path}: \`tool_use\` ids were found without \`tool_result\` blocks immediately ` +
      `after: ${open.join(", ")}. Each \`tool_use\` block must have a corresponding ` +
      "`tool_result` block in the next message."
    );
  }
  return undefined;
}

// Results count only where they open the next user turn: text before them hides them.
function leadingResults(turn: Turn | undefined): Set<string> {
  const ids = new Set<string>();
  if (turn?.role !== "user") return ids;
  for (const { block } of turn.blocks) {
    if (block.type !== "tool_result") break;
    ids.add(block.tool_use_id);
  }
  return ids;
}

function checkResults(turns: readonly Turn[]): string | undefined {
  for (const [index, turn] of turns.entries()) {
    const asked = new Set(turns[index - 1]?.blocks.flatMap(toolUseId));
    const seen = new Set<string>();
    for (const { block, path } of turn.blocks) {
      if (block.type !== "tool_result") continue;
      const id = block.tool_use_id;
      if (seen.has(id)) {
        return (
          `${path}: each tool_use must have a single result. Found multiple \`tool_result\` ` +
          `blocks with id: ${id}`
        );
      }
      seen.add(id);
      if (asked.has(id)) continue;
      return (
        `${path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each ` +
        "`tool_result` block must have a corresponding `tool_use` block in the previous message."
      );
    }
  }
  return undefined;
}

function toolUseId({ block }: PlacedBlock): string[] {
  return block.type === "tool_use" ? [block.id] : [];
}
