// Parses stream events into the part that we use. The server may not be the official one, so every
// field is checked.

import { ANSWER_BLOCKS, USAGE_TOKENS } from "../../shared/limits/turn.ts";
import type { Usage } from "../../shared/loop/model.ts";

export type StartedBlock =
  | { type: "text"; text: string }
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "redacted_thinking"; data: string }
  | { type: "tool_use"; id: unknown; name: string }
  /** Of a kind that we do not use. */
  | { type: "other" };

type StreamEvent =
  | { type: "usage"; usage: Partial<Usage> }
  | { type: "block_start"; index: number; block: StartedBlock }
  | { type: "block_delta"; index: number; of: DeltaKind; text: string }
  | { type: "block_stop"; index: number }
  | { type: "stop_reason"; reason: string | undefined; usage: Partial<Usage> }
  | { type: "end" }
  /** An event of a block without a valid index. */
  | { type: "broken" }
  | { type: "other" };

export type DeltaKind = "text" | "thinking" | "signature" | "json";

/** Parses an event: `broken` if the index of its block is not valid, `other` if it is unknown. */
export function readStreamEvent(value: unknown): StreamEvent {
  const raw = record(value);
  switch (raw.type) {
    case "message_start":
      return { type: "usage", usage: usageOf(record(raw.message).usage) };
    case "message_delta": {
      const { stop_reason: reason } = record(raw.delta);
      const usage = usageOf(raw.usage);
      return {
        type: "stop_reason",
        reason: typeof reason === "string" ? reason : undefined,
        usage,
      };
    }
    case "message_stop":
      return { type: "end" };
  }
  const { index } = raw;
  const isBlock = typeof raw.type === "string" && raw.type.startsWith("content_block_");
  if (!isBlock) return { type: "other" };
  if (!isIndex(index)) return { type: "broken" };
  switch (raw.type) {
    case "content_block_start":
      return { type: "block_start", index, block: startedBlock(record(raw.content_block)) };
    case "content_block_delta":
      return delta(index, record(raw.delta));
    case "content_block_stop":
      return { type: "block_stop", index };
    default:
      return { type: "other" };
  }
}

function startedBlock(block: Record<string, unknown>): StartedBlock {
  switch (block.type) {
    case "text":
      return { type: "text", text: textOf(block.text) };
    case "thinking": {
      const { thinking, signature } = block;
      return { type: "thinking", thinking: textOf(thinking), signature: textOf(signature) };
    }
    case "redacted_thinking":
      return { type: "redacted_thinking", data: textOf(block.data) };
    case "tool_use":
      return { type: "tool_use", id: block.id, name: nameOf(block.name) };
    default:
      return { type: "other" };
  }
}

function delta(index: number, raw: Record<string, unknown>): StreamEvent {
  const deltaOf = (of: DeltaKind, text: unknown): StreamEvent => {
    return { type: "block_delta", index, of, text: textOf(text) };
  };
  switch (raw.type) {
    case "text_delta":
      return deltaOf("text", raw.text);
    case "thinking_delta":
      return deltaOf("thinking", raw.thinking);
    case "signature_delta":
      return deltaOf("signature", raw.signature);
    case "input_json_delta":
      return deltaOf("json", raw.partial_json);
    default:
      return { type: "other" };
  }
}

/** The counts that are present: whole, not negative, capped. */
function usageOf(value: unknown): Partial<Usage> {
  const raw = record(value);
  const usage: Partial<Usage> = {};
  const take = (field: keyof Usage, tokens: unknown) => {
    if (typeof tokens !== "number" || !Number.isFinite(tokens)) return;
    usage[field] = Math.min(Math.max(0, Math.floor(tokens)), USAGE_TOKENS);
  };
  take("input", raw.input_tokens);
  take("cacheRead", raw.cache_read_input_tokens);
  take("cacheCreation", raw.cache_creation_input_tokens);
  take("output", raw.output_tokens);
  return usage;
}

/** A name that the API accepts in a history; any other would make every later request fail. */
function nameOf(value: unknown): string {
  return typeof value === "string" && /^[a-zA-Z0-9_-]{1,128}$/.test(value)
    ? value
    : "unusable_name";
}

function isIndex(value: unknown): value is number {
  return (
    typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= ANSWER_BLOCKS
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function record(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
