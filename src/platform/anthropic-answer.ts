import type Anthropic from "@anthropic-ai/sdk";
import type { AssistantBlock } from "../shared/query/messages.ts";
import type { Answer, ModelEvent, ModelFailure, ToolCall, Usage } from "../shared/query/model.ts";
import { NO_USAGE } from "../shared/query/model.ts";

type RawEvent = Anthropic.Messages.RawMessageStreamEvent;
type Building =
  | { type: "text"; text: string }
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "redacted_thinking"; data: string }
  | { type: "tool_use"; id: string; name: string; json: string }
  | { type: "other" };

/**
 * Puts an answer together from raw stream events and yields what it says on the way. Only an answer
 * with `message_stop` is one; without it the call failed. `bytesMost` bounds what is held.
 */
export async function* collectAnswer(
  events: AsyncIterable<RawEvent>,
  bytesMost: number,
): AsyncGenerator<ModelEvent, Answer | ModelFailure> {
  const blocks: Building[] = [];
  const calls = new Map<string, ToolCall>();
  let usage: Usage = NO_USAGE;
  let stopReason: string | undefined;
  let ended = false;
  let characters = 0;

  for await (const event of events) {
    switch (event.type) {
      case "message_start":
        usage = usageOf(usage, event.message.usage);
        break;
      case "content_block_start": {
        const block = opened(event.content_block);
        blocks[event.index] = block;
        if (block.type === "text") yield { type: "text_start", block: event.index };
        if (block.type === "thinking") yield { type: "thinking_start", block: event.index };
        break;
      }
      case "content_block_delta": {
        const text = extend(blocks[event.index], event.delta);
        characters += text.length;
        // A UTF-16 unit is at most three bytes of UTF-8, and of JSON at most six.
        if (characters * 3 > bytesMost) {
          return { status: "failed", kind: "too_large", message: tooLarge(bytesMost) };
        }
        if (event.delta.type === "text_delta" && text !== "") {
          yield { type: "text", block: event.index, text };
        }
        break;
      }
      case "content_block_stop": {
        const call = callOf(blocks[event.index]);
        if (!call) break;
        calls.set(call.id, call);
        yield { type: "call", call };
        break;
      }
      case "message_delta":
        usage = usageOf(usage, event.usage);
        stopReason = event.delta.stop_reason ?? stopReason;
        break;
      case "message_stop":
        ended = true;
        break;
    }
  }
  if (!ended || stopReason === undefined) {
    return {
      status: "failed",
      kind: "cut",
      message: "The model's answer broke off before its end",
    };
  }
  return answer(blocks, calls, stopReason, usage);
}

function answer(
  blocks: Building[],
  calls: ReadonlyMap<string, ToolCall>,
  stopReason: string,
  usage: Usage,
): Answer {
  const content: AssistantBlock[] = [];
  const malformed: Record<string, string> = {};
  // Where the limit struck within a call, its JSON may look whole all the same.
  const inCall = stopReason === "max_tokens" && blocks.at(-1)?.type === "tool_use";
  let cutCall = false;
  for (const block of blocks) {
    if (block === undefined || block.type === "other") continue;
    if (block.type !== "tool_use") {
      const kept = spoken(block);
      if (kept) content.push(kept);
      continue;
    }
    const call = calls.get(block.id);
    if (!call || (inCall && block === blocks.at(-1))) {
      cutCall = true;
      continue;
    }
    content.push({ type: "tool_use", id: call.id, name: call.name, input: call.input });
    if (call.malformed !== undefined) malformed[call.id] = call.malformed;
  }
  return { status: "answered", content, malformed, stopReason, cutCall, usage };
}

function opened(block: Anthropic.Messages.ContentBlock): Building {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "thinking":
      return { type: "thinking", thinking: block.thinking, signature: block.signature };
    case "redacted_thinking":
      return { type: "redacted_thinking", data: block.data };
    case "tool_use":
      return { type: "tool_use", id: block.id, name: block.name, json: "" };
    default:
      return { type: "other" };
  }
}

/** Adds a delta to its block and gives back the text that it added. */
function extend(block: Building | undefined, delta: Anthropic.Messages.RawContentBlockDelta) {
  if (block?.type === "text" && delta.type === "text_delta") {
    block.text += delta.text;
    return delta.text;
  }
  if (block?.type === "thinking" && delta.type === "thinking_delta") {
    block.thinking += delta.thinking;
    return delta.thinking;
  }
  if (block?.type === "thinking" && delta.type === "signature_delta") {
    block.signature += delta.signature;
    return delta.signature;
  }
  if (block?.type === "tool_use" && delta.type === "input_json_delta") {
    block.json += delta.partial_json;
    return delta.partial_json;
  }
  return "";
}

function callOf(block: Building | undefined): ToolCall | undefined {
  if (block?.type !== "tool_use") return undefined;
  const { id, name, json } = block;
  if (json.trim() === "") return { id, name, input: {} };
  try {
    const value: unknown = JSON.parse(json);
    if (isRecord(value)) return { id, name, input: wellFormed(value) };
    return { id, name, input: {}, malformed: "it is not an object" };
  } catch {
    return { id, name, input: {}, malformed: `it ends or breaks within ${json.length} characters` };
  }
}

/** The API refuses a lone surrogate, and JSON can smuggle one in as an escape. */
function wellFormed(input: Record<string, unknown>): Record<string, unknown> {
  const text = JSON.stringify(input);
  // JSON.stringify writes what is lone as an escape of its own: looked for first, as it is rare.
  if (!/\\ud[89a-f]/.test(text)) return input;
  const parsed: unknown = JSON.parse(text, (_key, value: unknown) => {
    if (typeof value === "string") return value.toWellFormed();
    if (!isRecord(value)) return value;
    const entries = Object.entries(value);
    return Object.fromEntries(entries.map(([key, inner]) => [key.toWellFormed(), inner]));
  });
  return isRecord(parsed) ? parsed : {};
}

function spoken(
  block: Exclude<Building, { type: "tool_use" } | { type: "other" }>,
): AssistantBlock | undefined {
  // Thinking that was cut off has no signature, and without one the API refuses it for ever.
  if (block.type === "thinking" && block.signature === "") return undefined;
  if (block.type !== "text") return block;
  return block.text.trim() === "" ? undefined : { type: "text", text: block.text.toWellFormed() };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function usageOf(
  before: Usage,
  usage: {
    input_tokens?: number | null;
    cache_read_input_tokens?: number | null;
    cache_creation_input_tokens?: number | null;
    output_tokens?: number | null;
  },
): Usage {
  return {
    input: usage.input_tokens ?? before.input,
    cacheRead: usage.cache_read_input_tokens ?? before.cacheRead,
    cacheCreation: usage.cache_creation_input_tokens ?? before.cacheCreation,
    output: usage.output_tokens ?? before.output,
  };
}

function tooLarge(bytes: number): string {
  return `The model's answer is larger than ${bytes} bytes. Ask for a smaller piece of work`;
}
