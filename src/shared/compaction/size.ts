// How large a conversation is for its model: what the API last said, and for what came since a bound
// by bytes, held against what the API said before.

import type { ToolSpec } from "../loop/tool.ts";
import { byteLength } from "../text/bytes.ts";
import type { Message } from "../thread/messages.ts";
import { BYTES_PER_TOKEN, textTokens } from "../thread/tokens.ts";

/** What is known of a conversation's size. */
export interface ContextSize {
  /** Tokens of all up to and with the newest answer, as the API counted them; null after a cut. */
  counted: number | null;
  /** Tokens that the API counts for one that the bytes say. */
  ratio: number;
}

export const NO_SIZE: ContextSize = { counted: null, ratio: 1 };

/** What stands around a block: its type, its fields, an id. In bytes. */
const BLOCK_BYTES = 30;
/** How much of a new ratio counts, and the bounds of what can be: a bad figure must not stop a session. */
const RATIO_WEIGHT = 0.3;
const RATIO_LEAST = 0.25;
const RATIO_MOST = 2;
/** A tail of fewer tokens says nothing of the ratio. */
const RATIO_TOKENS = 200;

/** Tokens of messages by their bytes: rather too many. */
export function messageTokens(messages: readonly Message[]): number {
  let bytes = 0;
  for (const { content } of messages) {
    for (const block of content) bytes += BLOCK_BYTES + blockBytes(block);
  }
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** What stands before the messages of every request, in tokens by its bytes. */
export function fixedTokens(system: readonly string[], tools: readonly ToolSpec[]): number {
  const specs = tools.map(({ name, description, input_schema }) => ({
    name,
    description,
    input_schema,
  }));
  return textTokens(system.join("\n")) + textTokens(JSON.stringify(specs));
}

/** The whole prompt: what was counted, and the tokens of what came since by their bytes. */
export function promptTokens({ counted, ratio }: ContextSize, tail: number): number {
  return (counted ?? 0) + Math.ceil(tail * ratio);
}

/**
 * The size after an answer whose request had so many tokens by bytes after what was counted. A
 * server that counts nothing, or more than its `window` holds, is not believed: undefined.
 */
export function answeredSize(
  size: ContextSize,
  tail: number,
  window: number,
  usage: { input: number; cacheRead: number; cacheCreation: number; output: number },
): ContextSize | undefined {
  const input = usage.input + usage.cacheRead + usage.cacheCreation;
  if (input === 0 || input > window) return undefined;
  const grown = input - (size.counted ?? 0);
  const seen = Math.min(RATIO_MOST, Math.max(RATIO_LEAST, grown / Math.max(1, tail)));
  const ratio = tail < RATIO_TOKENS ? size.ratio : size.ratio + RATIO_WEIGHT * (seen - size.ratio);
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
