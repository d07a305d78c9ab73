// The token count of a conversation: the API's last count, plus an upper bound by bytes for what came
// since, corrected by the ratio of earlier counts.

import type { ToolSpec } from "../loop/tool.ts";
import { byteLength } from "../text/bytes.ts";
import type { Message } from "../thread/messages.ts";
import { BYTES_PER_TOKEN, textTokens } from "../thread/tokens.ts";

interface ContextSize {
  /** Tokens up to and including the newest answer by the API's count; null after a cut. */
  counted: number | null;
  /** Tokens by the API's count for one token by bytes. */
  ratio: number;
}

export const NO_SIZE: ContextSize = { counted: null, ratio: 1 };

/** Bytes of a block beside its content: type, field names, an id. */
const BLOCK_BYTES = 30;
/** The weight of a new ratio, and its bounds: a wrong count must not stop a session. */
const RATIO_WEIGHT = 0.3;
const RATIO_LEAST = 0.25;
const RATIO_MOST = 2;
/** A tail of fewer tokens says nothing about the ratio. */
const RATIO_TOKENS = 200;

/** An upper bound of the tokens of messages, by their bytes. */
export function messageTokens(messages: readonly Message[]): number {
  let bytes = 0;
  for (const { content } of messages) {
    for (const block of content) bytes += BLOCK_BYTES + blockBytes(block);
  }
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** Tokens by bytes of the part before the messages of every request. */
export function fixedTokens(system: readonly string[], tools: readonly ToolSpec[]): number {
  const specs = tools.map(({ name, description, input_schema }) => ({
    name,
    description,
    input_schema,
  }));
  return textTokens(system.join("\n")) + textTokens(JSON.stringify(specs));
}

/** Tokens of the whole prompt; `tail`: tokens by bytes of what came after the last count. */
export function promptTokens({ counted, ratio }: ContextSize, tail: number): number {
  return (counted ?? 0) + Math.ceil(tail * ratio);
}

/**
 * The size after an answer. `tail`: tokens by bytes that its request had after the last count. Undefined
 * if the server's count cannot be true: zero, or more than the `window` in tokens.
 */
export function sizeAfterAnswer(
  size: ContextSize,
  tail: number,
  window: number,
  usage: { input: number; cacheRead: number; cacheCreation: number; output: number },
): ContextSize | undefined {
  const input = usage.input + usage.cacheRead + usage.cacheCreation;
  if (input === 0 || input > window) return undefined;
  const grown = input - (size.counted ?? 0);
  const current = Math.min(RATIO_MOST, Math.max(RATIO_LEAST, grown / Math.max(1, tail)));
  const ratio =
    tail < RATIO_TOKENS ? size.ratio : size.ratio + RATIO_WEIGHT * (current - size.ratio);
  return { counted: input + usage.output, ratio };
}

function blockBytes(block: Message["content"][number]): number {
  switch (block.type) {
    case "text":
      return byteLength(block.text);
    case "thinking":
      return byteLength(block.thinking) + block.signature.length;
    case "redacted_thinking":
      return block.data.length;
    case "tool_use":
      return block.id.length + block.name.length + byteLength(JSON.stringify(block.input));
    case "tool_result":
      return block.tool_use_id.length + byteLength(block.content);
  }
}
