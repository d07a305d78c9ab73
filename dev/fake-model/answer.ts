import { hash } from "./hash.ts";
import type { InputUsage } from "./meter.ts";
import { instanceOf } from "./policy/instance.ts";
import { estimateTokens } from "./render.ts";
import type { ParsedStep } from "./script.ts";
import { prefixOf, signThinking } from "./thinking.ts";
import type { MessagesRequest } from "./wire.ts";

// Turns a step into the answer that the API would give: blocks, stop reason, usage. The token limit
// and the stop sequences of the request hold, as do the faults that end an answer in its content.

export type OutBlock =
  | { type: "text"; text: string }
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "tool_use" | "server_tool_use"; id: string; name: string; json: string };

export interface Usage extends InputUsage {
  output_tokens: number;
  output_tokens_details: { thinking_tokens: number };
  server_tool_use: null;
  service_tier: "standard";
  speed: "standard" | "fast";
  inference_geo: null;
}

export interface Answer {
  id: string;
  model: string;
  blocks: OutBlock[];
  stopReason: string;
  stopSequence: string | null;
  stopDetails: { type: "refusal"; category: string | null; explanation: string | null } | null;
  usage: Usage;
}

const CHUNK_CODE_POINTS = 8;

/** The pieces in which a text is streamed: whole code points, never half a surrogate pair. */
export function piecesOf(text: string): string[] {
  const points = Array.from(text);
  const pieces: string[] = [];
  for (let at = 0; at < points.length; at += CHUNK_CODE_POINTS) {
    pieces.push(points.slice(at, at + CHUNK_CODE_POINTS).join(""));
  }
  return pieces;
}

export function buildAnswer(
  request: MessagesRequest,
  step: ParsedStep,
  input: InputUsage,
  id: string,
): Answer {
  const outcome = limit(request, step, blocksFor(request, step));
  const thinking = outcome.blocks.find((block) => block.type === "thinking");
  const usage: Usage = {
    ...input,
    output_tokens: outcome.blocks.reduce((sum, block) => sum + estimateTokens(bodyOf(block)), 0),
    output_tokens_details: { thinking_tokens: estimateTokens(thinking ? bodyOf(thinking) : "") },
    server_tool_use: null,
    service_tier: "standard",
    speed: request.speed ?? "standard",
    inference_geo: null,
  };
  return {
    id,
    model: request.model,
    stopSequence: null,
    stopDetails: null,
    ...outcome,
    usage: { ...usage, ...definedOf(step.usage ?? {}) },
  };
}

function blocksFor(request: MessagesRequest, step: ParsedStep): OutBlock[] {
  if (request.max_tokens === 0) return [];
  const blocks: OutBlock[] = [];
  const prefix = prefixOf(request.messages);
  const thinks = request.thinking?.type === "adaptive" || request.thinking?.type === "enabled";
  if (thinks && step.thinking !== undefined) {
    const omitted =
      request.thinking && "display" in request.thinking
        ? request.thinking.display === "omitted"
        : false;
    const thinking = omitted ? "" : step.thinking;
    blocks.push({ type: "thinking", thinking, signature: signThinking(thinking, prefix) });
  }
  if (step.text !== undefined && step.text !== "") blocks.push({ type: "text", text: step.text });
  // Ids come from the prefix, so that they repeat from run to run and differ along a conversation.
  for (const [index, tool] of toolsFor(request, step).entries()) {
    const id = tool.id ?? `toolu_${hash(`${prefix}|${index}`).slice(0, 24)}`;
    blocks.push({ type: "tool_use", id, name: tool.name, json: JSON.stringify(tool.input) });
  }
  if (step.fault?.type === "pause_turn") {
    const id = `srvtoolu_${hash(prefix).slice(0, 24)}`;
    blocks.push({
      type: "server_tool_use",
      id,
      name: "web_search",
      json: '{"query":"fake-model"}',
    });
  }
  if (step.fault?.type !== "malformed_tool_json") return blocks;
  return blocks.map((block) =>
    block.type === "tool_use" ? { ...block, json: `${block.json.slice(0, -1)},,"oops` } : block,
  );
}

// Calls the tool that the request forces with the least input, where the step names none.
function toolsFor(request: MessagesRequest, step: ParsedStep): NonNullable<ParsedStep["tools"]> {
  if (step.tools && step.tools.length > 0) return step.tools;
  const choice = request.tool_choice;
  const forced = choice?.type === "any" || choice?.type === "tool";
  if (!forced && step.fault?.type !== "malformed_tool_json") return [];
  const wanted = choice?.type === "tool" ? choice.name : request.tools?.[0]?.name;
  const tool = request.tools?.find(({ name }) => name === wanted);
  if (!tool?.name) return [];
  const input = "input_schema" in tool ? instanceOf(tool.input_schema) : {};
  return [{ name: tool.name, input: Object.fromEntries(Object.entries(input ?? {})) }];
}

type Outcome = Pick<Answer, "blocks" | "stopReason"> &
  Partial<Pick<Answer, "stopSequence" | "stopDetails">>;

function limit(request: MessagesRequest, step: ParsedStep, blocks: OutBlock[]): Outcome {
  const { fault } = step;
  if (request.max_tokens === 0) return { blocks, stopReason: "max_tokens" };
  if (fault?.type === "max_tokens") {
    return { blocks: cut(blocks, fault.after_chunks ?? middle(blocks)), stopReason: "max_tokens" };
  }
  const ended = stopReasonOf(step, blocks);
  if (fault?.type === "refusal") {
    const category = fault.category ?? null;
    const stopDetails = { type: "refusal", category, explanation: "Scripted refusal" } as const;
    return { blocks, stopReason: ended, stopDetails };
  }
  const allowed = piecesWithin(blocks, request.max_tokens);
  if (allowed !== undefined && step.stop_reason === undefined) {
    return { blocks: cut(blocks, allowed), stopReason: "max_tokens" };
  }
  return atStopSequence(blocks, request.stop_sequences ?? []) ?? { blocks, stopReason: ended };
}

function stopReasonOf(step: ParsedStep, blocks: OutBlock[]): string {
  if (step.stop_reason !== undefined) return step.stop_reason;
  if (step.fault?.type === "refusal") return "refusal";
  if (step.fault?.type === "pause_turn") return "pause_turn";
  if (step.fault?.type === "context_exceeded") return "model_context_window_exceeded";
  if (step.fault?.type === "unknown_stop") return "stand_in_unknown";
  return blocks.some((block) => block.type === "tool_use") ? "tool_use" : "end_turn";
}

function atStopSequence(blocks: OutBlock[], sequences: string[]): Outcome | undefined {
  for (const [index, block] of blocks.entries()) {
    if (block.type !== "text") continue;
    const hits = sequences
      .map((sequence) => ({ sequence, at: block.text.indexOf(sequence) }))
      .filter(({ at }) => at >= 0)
      .sort((left, right) => left.at - right.at);
    const first = hits[0];
    if (!first) continue;
    const text: OutBlock = { type: "text", text: block.text.slice(0, first.at) };
    const kept = [...blocks.slice(0, index), text].filter((kept) => bodyOf(kept) !== "");
    return { blocks: kept, stopReason: "stop_sequence", stopSequence: first.sequence };
  }
  return undefined;
}

function bodyOf(block: OutBlock): string {
  if (block.type === "text") return block.text;
  return block.type === "thinking" ? block.thinking + block.signature : block.json;
}

// Never cuts thinking in half: half of it could carry no signature.
function cut(blocks: OutBlock[], pieces: number): OutBlock[] {
  const kept: OutBlock[] = [];
  let left = pieces;
  for (const block of blocks) {
    if (block.type === "thinking") {
      kept.push(block);
      continue;
    }
    const parts = piecesOf(bodyOf(block));
    const body = parts.slice(0, left).join("");
    if (left > 0) {
      kept.push(block.type === "text" ? { ...block, text: body } : { ...block, json: body });
    }
    left = Math.max(0, left - parts.length);
  }
  return kept;
}

function middle(blocks: OutBlock[]): number {
  const counts = blocks
    .filter((block) => block.type !== "thinking")
    .map((block) => piecesOf(bodyOf(block)).length);
  const last = counts.pop() ?? 0;
  return counts.reduce((sum, count) => sum + count, 0) + Math.max(1, Math.floor(last / 2));
}

/** How many pieces the limit lets through; undefined where everything fits. */
function piecesWithin(blocks: OutBlock[], maxTokens: number): number | undefined {
  let spent = 0;
  let pieces = 0;
  for (const block of blocks) {
    if (block.type === "thinking") {
      spent += estimateTokens(block.thinking);
      continue;
    }
    let text = "";
    for (const piece of piecesOf(bodyOf(block))) {
      text += piece;
      if (spent + estimateTokens(text) > maxTokens) return pieces;
      pieces += 1;
    }
    spent += estimateTokens(text);
  }
  return undefined;
}

function definedOf<T extends object>(values: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: NonNullable<T[K]> };
}
