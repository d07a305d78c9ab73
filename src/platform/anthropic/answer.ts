import { ANSWER_BLOCKS } from "../../shared/limits/turn.ts";
import { jsonBytes } from "../../shared/loop/json-size.ts";
import type { Answer, ModelEvent, ModelFailure, ToolCall, Usage } from "../../shared/loop/model.ts";
import { NO_USAGE } from "../../shared/loop/model.ts";
import { byteLength } from "../../shared/text/bytes.ts";
import type { AssistantBlock } from "../../shared/thread/messages.ts";
import { BYTES_PER_TOKEN } from "../../shared/thread/tokens.ts";
import type { DeltaKind, StartedBlock } from "./event.ts";
import { isRecord, readStreamEvent } from "./event.ts";

type Block =
  | Exclude<StartedBlock, { type: "tool_use" }>
  /** `call`: set once the input is complete. */
  | { type: "tool_use"; id: string; name: string; json: string; call?: ToolCall | undefined };

/** The part of an answer that has been received. */
export interface Received {
  /** Tokens as the server reported them; undefined before it began. */
  usage: Usage | undefined;
  /** JSON bytes of the blocks. */
  bytes: number;
}

/**
 * The usage of an answer that broke off: the input as the server reported it, the output estimated from
 * the received bytes, since its count comes last. Undefined if the model had not begun.
 */
export function partialUsage({ usage, bytes }: Received): Usage | undefined {
  if (!usage) return undefined;
  return { ...usage, output: Math.max(usage.output, Math.ceil(bytes / BYTES_PER_TOKEN)) };
}

/**
 * Builds an answer from raw stream events, and yields model events on the way. Without `message_stop` the
 * call has failed; events after it are not read. Blocks keep the order in which they came, whatever
 * their index. `bytesMost`: JSON bytes in memory and in the result. `callId` gives each call a unique
 * id. `received` is kept up to date.
 */
export async function* collectAnswer(
  events: AsyncIterable<unknown>,
  bytesMost: number,
  callId: (id: unknown) => string,
  received: Received,
): AsyncGenerator<ModelEvent, Answer | ModelFailure> {
  const blocks: Block[] = [];
  /** The place in `blocks` of each block without an end, by the server's index. */
  const open = new Map<number, number>();
  let stopReason: string | undefined;
  let ended = false;

  for await (const raw of events) {
    const event = readStreamEvent(raw);
    if (event.type === "broken") return failed("cut", "The model's answer is not well-formed");
    if (event.type === "usage" || event.type === "stop_reason") {
      received.usage = { ...(received.usage ?? NO_USAGE), ...event.usage };
    }
    if (event.type === "stop_reason") {
      stopReason = event.reason ?? stopReason;
    }
    if (event.type === "block_start") {
      const block = startBlock(event.block, callId);
      received.bytes += startBytes(block);
      if (blocks.length >= ANSWER_BLOCKS || received.bytes > bytesMost) return tooLarge(bytesMost);
      const place = blocks.push(block) - 1;
      open.set(event.index, place);
      if (block.type === "thinking") yield { type: "thinking_start", block: place };
      if (block.type === "text") {
        yield { type: "text_start", block: place };
        if (block.text !== "") yield { type: "text", block: place, text: block.text };
      }
    }
    if (event.type === "block_delta") {
      const place = open.get(event.index);
      const block = place === undefined ? undefined : blocks[place];
      if (place === undefined || !block || !extend(block, event.of, event.text)) continue;
      // The input of a call is JSON already.
      received.bytes += event.of === "json" ? byteLength(event.text) : jsonBytes(event.text);
      if (received.bytes > bytesMost) return tooLarge(bytesMost);
      if (block.type === "text" && event.text !== "") {
        yield { type: "text", block: place, text: event.text };
      }
    }
    if (event.type === "block_stop") {
      const block = blocks[open.get(event.index) ?? -1];
      open.delete(event.index);
      if (block?.type !== "tool_use") continue;
      block.call = callOf(block);
      yield { type: "call", call: block.call };
    }
    ended = event.type === "end";
    if (ended) break;
  }
  if (!ended || stopReason === undefined) {
    return failed("cut", "The model's answer broke off before its end");
  }
  const answer = buildAnswer(blocks, stopReason, received.usage ?? NO_USAGE);
  // Parsing and writing JSON can make numbers longer, so the size is checked again.
  return jsonBytesOf(answer.content) > bytesMost ? tooLarge(bytesMost) : answer;
}

function buildAnswer(blocks: readonly Block[], stopReason: string, usage: Usage): Answer {
  const content: AssistantBlock[] = [];
  const malformed = new Map<string, string>();
  const isCut = stopReason === "max_tokens";
  let cutCall = false;
  for (const block of blocks) {
    if (block.type === "other") continue;
    if (block.type !== "tool_use") {
      const kept = keptBlock(block);
      if (kept) content.push(kept);
      continue;
    }
    // A call that the limit cut may still have valid JSON.
    if (isCut && (block.call === undefined || block === blocks.at(-1))) {
      cutCall = true;
      continue;
    }
    // A complete answer may lack the end of a block: then the input shows whether it is complete.
    const { id, name, input, malformed: reason } = block.call ?? callOf(block);
    content.push({ type: "tool_use", id, name, input });
    if (reason !== undefined) malformed.set(id, reason);
  }
  return { status: "answered", content, malformed, stopReason, cutCall, usage };
}

function startBlock(block: StartedBlock, callId: (id: unknown) => string): Block {
  if (block.type !== "tool_use") return block;
  return { type: "tool_use", id: callId(block.id), name: block.name, json: "" };
}

/** Adds a delta to a block; false if the kinds do not match. */
function extend(block: Block, of: DeltaKind, text: string): boolean {
  if (block.type === "text" && of === "text") block.text += text;
  else if (block.type === "thinking" && of === "thinking") block.thinking += text;
  else if (block.type === "thinking" && of === "signature") block.signature += text;
  else if (block.type === "tool_use" && of === "json") block.json += text;
  else return false;
  return true;
}

function callOf(block: Extract<Block, { type: "tool_use" }>): ToolCall {
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

/** Replaces lone surrogates, which JSON can contain as escapes: the API refuses them. */
function wellFormed(input: Record<string, unknown>): Record<string, unknown> {
  const text = JSON.stringify(input);
  // JSON.stringify escapes lone surrogates, so a search for the escape skips the usual case.
  if (!/\\ud[89a-f]/.test(text)) return input;
  const parsed: unknown = JSON.parse(text, (_key, value: unknown) => {
    if (typeof value === "string") return value.toWellFormed();
    if (!isRecord(value)) return value;
    const entries = Object.entries(value);
    return Object.fromEntries(entries.map(([key, inner]) => [key.toWellFormed(), inner]));
  });
  return isRecord(parsed) ? parsed : {};
}

function keptBlock(
  block: Exclude<Block, { type: "tool_use" } | { type: "other" }>,
): AssistantBlock | undefined {
  // Thinking that was cut has no signature, and the API refuses it without one.
  if (block.type === "thinking" && block.signature === "") return undefined;
  if (block.type !== "text") return block;
  return block.text.trim() === "" ? undefined : { type: "text", text: block.text.toWellFormed() };
}

/** JSON bytes of a block at its start. */
function startBytes(block: Block): number {
  return jsonBytesOf(block.type === "tool_use" ? [block.id, block.name] : block);
}

function jsonBytesOf(value: unknown): number {
  return byteLength(JSON.stringify(value));
}

function tooLarge(bytes: number): ModelFailure {
  return failed(
    "too_large",
    `The model's answer is larger than ${bytes} bytes or ${ANSWER_BLOCKS} blocks. Ask for a smaller piece of work`,
  );
}

function failed(kind: "cut" | "too_large", message: string): ModelFailure {
  return { status: "failed", kind, message };
}
