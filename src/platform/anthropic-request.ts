import type Anthropic from "@anthropic-ai/sdk";
import type { Message } from "../shared/query/messages.ts";
import type { ModelRequest } from "../shared/query/model.ts";
import { modelFacts } from "../shared/query/models.ts";

type Body = Anthropic.Messages.MessageCreateParamsStreaming;
type Param = Anthropic.Messages.MessageParam;

/** A cache mark looks back this many blocks for an earlier one. Source: prompt caching, API. */
const LOOK_BACK_BLOCKS = 20;
/** Distance between marks where much was added at once: some way below the look-back. */
const MARK_EVERY_BLOCKS = 15;
/** Marks on messages; the API takes four in all, and the system prompt has one. */
const MESSAGE_MARKS = 3;

/**
 * The body of a Messages API request. The same input gives the same bytes: the cache depends on it.
 * Marks stand at the end of the system prompt and on the last block, and further back where one
 * step added more blocks than a mark looks back.
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
    tools: request.tools.map(({ name, description, input_schema }) => ({
      name,
      description,
      input_schema: { ...input_schema, type: "object" },
    })),
    messages,
    ...(modelFacts(request.model).adaptiveThinking ? { thinking: { type: "adaptive" } } : {}),
  };
}

function messageParam(message: Message): Param {
  if (message.role === "user") {
    return { role: "user", content: message.content.map((block) => ({ ...block })) };
  }
  return { role: "assistant", content: message.content.map((block) => ({ ...block })) };
}

/** Marks the last block that can carry a mark, and then every 15th before it. */
function markMessages(messages: Param[]): void {
  let left = MESSAGE_MARKS;
  let distance = MARK_EVERY_BLOCKS;
  let total = 0;
  for (const message of messages) total += message.content.length;
  for (const message of messages.toReversed()) {
    if (typeof message.content === "string") continue;
    for (const block of message.content.toReversed()) {
      distance += 1;
      if (distance <= MARK_EVERY_BLOCKS || left === 0) continue;
      if (block.type !== "text" && block.type !== "tool_result" && block.type !== "tool_use") {
        continue;
      }
      block.cache_control = { type: "ephemeral" };
      distance = 0;
      left -= 1;
      if (total <= LOOK_BACK_BLOCKS) return;
    }
  }
}
