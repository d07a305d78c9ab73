import type Anthropic from "@anthropic-ai/sdk";
import type { ModelRequest } from "../../shared/loop/model.ts";
import { modelFacts } from "../../shared/loop/models.ts";
import type { ToolSpec } from "../../shared/loop/tool.ts";
import type { Message } from "../../shared/thread/messages.ts";

type Body = Anthropic.Messages.MessageCreateParamsStreaming;
type Param = Anthropic.Messages.MessageParam;
type Block = Anthropic.Messages.ContentBlockParam;
type Markable = Extract<Block, { type: "text" | "tool_result" | "tool_use" }>;

/** A cache mark looks back this many blocks for an earlier one. Source: the API's prompt caching. */
const LOOK_BACK_BLOCKS = 20;
/** Distance between marks if much was added at once: below the look-back. */
const MARK_EVERY_BLOCKS = 15;
/** Marks on messages: the API accepts four in all, and the system prompt has one. */
const MESSAGE_MARKS = 3;

/**
 * The body of a Messages API request. The same input gives the same bytes: the prompt cache depends on
 * it. Cache marks are at the end of the system prompt and on the last block, and on earlier blocks if
 * the conversation is longer than a mark looks back.
 */
export function requestBody(request: ModelRequest): Body {
  const messages = request.messages.map(messageParam);
  markMessages(messages);
  const system = request.system.map((text, n): Anthropic.Messages.TextBlockParam => {
    const last = n === request.system.length - 1;
    return last
      ? { type: "text", text, cache_control: { type: "ephemeral" } }
      : { type: "text", text };
  });
  return {
    model: request.model,
    max_tokens: request.maxTokens,
    stream: true,
    system,
    ...(request.tools.length > 0 ? { tools: request.tools.map(toolParam) } : {}),
    messages,
    ...(request.schema
      ? { output_config: { format: { type: "json_schema", schema: request.schema } } }
      : {}),
    ...(modelFacts(request.model).adaptiveThinking
      ? { thinking: { type: request.noThinking ? "disabled" : "adaptive" } }
      : {}),
  };
}

function toolParam({ name, description, input_schema }: ToolSpec): Anthropic.Messages.Tool {
  return { name, description, input_schema: { ...input_schema, type: "object" } };
}

/** A copy, since marks are set on it. Replaces lone surrogates, which older rows may contain. */
function messageParam(message: Message): Param {
  if (message.role === "user") {
    return {
      role: "user",
      content: message.content.map((block) =>
        block.type === "text"
          ? { ...block, text: block.text.toWellFormed() }
          : { ...block, content: block.content.toWellFormed() },
      ),
    };
  }
  return {
    role: "assistant",
    content: message.content.map((block) =>
      block.type === "text" ? { ...block, text: block.text.toWellFormed() } : { ...block },
    ),
  };
}

/**
 * Marks the last block, then the last block of the previous request (its own mark was there, however
 * much one step has added), then every 15th block before the last.
 */
function markMessages(messages: Param[]): void {
  const blocks = blocksOf(messages);
  const last = blocks.length - 1;
  const answer = messages.findLastIndex((message) => message.role === "assistant");
  const places = [last];
  if (blocks.length > LOOK_BACK_BLOCKS) {
    if (answer > 0) places.push(blocksOf(messages.slice(0, answer)).length - 1);
    for (let n = 1; n < MESSAGE_MARKS; n += 1) places.push(last - n * MARK_EVERY_BLOCKS);
  }
  const marked = new Set<Markable>();
  for (const place of places) {
    const block = blocks.slice(0, Math.max(0, place + 1)).findLast(isMarkable);
    if (block && marked.size < MESSAGE_MARKS) marked.add(block);
  }
  for (const block of marked) block.cache_control = { type: "ephemeral" };
}

function blocksOf(messages: readonly Param[]): Block[] {
  return messages.flatMap(({ content }) => (typeof content === "string" ? [] : content));
}

function isMarkable(block: Block): block is Markable {
  return block.type === "text" || block.type === "tool_result" || block.type === "tool_use";
}
