import { blocksOf } from "./conversation.ts";
import { hash } from "./hash.ts";
import type { Block, CacheControl, Prompt, Tool } from "./wire.ts";

/**
 * One cacheable place in a prompt: the hash of everything up to and including it, the tokens up to
 * and including it, and the lifetime of the cache marker it carries, if it does.
 */
export interface Position {
  path: string;
  hash: string;
  tokens: number;
  ttl: "5m" | "1h" | undefined;
  cacheable: boolean;
}

const BYTES_PER_TOKEN = 4;
const IMAGE_TOKENS = 1_600;
const encoder = new TextEncoder();

/**
 * The fake model's only idea of a token: four UTF-8 bytes, rounded up. A SIMULATED figure: the real
 * tokenizers give other numbers, and nobody may bill by this one.
 */
export function estimateTokens(text: string): number {
  return Math.ceil(encoder.encode(text).length / BYTES_PER_TOKEN);
}

/** The block as it was sent, without its cache marker: a marker may move, it is no part of the key. */
export function canon(block: Block | Tool): string {
  const { cache_control: _marker, ...rest } = block;
  return JSON.stringify(rest);
}

/** Every position, with the marker at the top of the request at the place that it goes to. */
export function positionsOf(request: Prompt): Position[] {
  return markLast(explicitPositions(request), request.cache_control);
}

const found = new WeakMap<Prompt, Position[]>();

/** The same without that marker. Each check asks for them, so they are looked for once a request. */
export function explicitPositions(request: Prompt): Position[] {
  const positions = found.get(request) ?? findPositions(request);
  found.set(request, positions);
  return positions.map((position) => ({ ...position }));
}

/**
 * In the order the cache sees them: tools, then system, then messages. Each tier starts from a seed, so
 * that a change of a setting loses that tier and what follows, and no more.
 */
function findPositions(request: Prompt): Position[] {
  const positions: Position[] = [];
  let state = hash(`model ${request.model}`);
  let tokens = 0;
  const enter = (seed: unknown) => {
    state = hash(`${state}|${JSON.stringify(seed)}`);
  };
  const add = (path: string, prefix: string, block: Block | Tool) => {
    const text = canon(block);
    state = hash(`${state}|${prefix}|${shortened(text)}`);
    tokens += tokensOf(block, text);
    positions.push({ path, hash: state, tokens, ttl: ttlOf(block), cacheable: isCacheable(block) });
  };

  for (const [index, tool] of (request.tools ?? []).entries()) add(`tools.${index}`, "tool", tool);
  // The API puts the output format into the system part, so a change belongs to this tier.
  enter([request.speed ?? "standard", formatOf(request) ?? null]);
  for (const [index, block] of systemBlocks(request).entries()) {
    add(`system.${index}`, "system", block);
  }
  enter(messageSettings(request));
  for (const [index, message] of request.messages.entries()) {
    for (const [position, block] of blocksOf(message).entries()) {
      add(`messages.${index}.content.${position}`, message.role, block);
    }
  }
  return positions;
}

/** Texts that come again with every request, and their hashes. */
const hashes = new Map<string, string>();
const REMEMBERED = { most: 500, least: 500, characters: 100_000 };

/** Stands for a text in a hash: a long one by its own hash, which is found once. */
function shortened(text: string): string {
  if (text.length < REMEMBERED.least || text.length > REMEMBERED.characters) return text;
  const known = hashes.get(text) ?? `#${hash(text)}`;
  if (hashes.size >= REMEMBERED.most) hashes.clear();
  hashes.set(text, known);
  return known;
}

export function systemBlocks(request: Prompt): Extract<Block, { type: "text" }>[] {
  if (request.system === undefined || request.system === "") return [];
  return typeof request.system === "string"
    ? [{ type: "text", text: request.system }]
    : request.system;
}

/** The JSON format asked for, under its present or its old name. */
export function formatOf(request: Prompt): { schema: Record<string, unknown> } | undefined {
  return request.output_config?.format ?? request.output_format ?? undefined;
}

// Naming a default is the same as leaving it out.
function messageSettings(request: Prompt): unknown {
  const thinking = request.thinking;
  const budget = thinking?.type === "enabled" ? thinking.budget_tokens : 0;
  const images = request.messages.some((message) => blocksOf(message).some(holdsImage));
  return [
    request.tool_choice ?? { type: "auto" },
    thinking?.type ?? "disabled",
    budget,
    request.output_config?.effort ?? "high",
    images,
  ];
}

function holdsImage(block: Block): boolean {
  if (block.type === "image") return true;
  if (block.type !== "tool_result" || !Array.isArray(block.content)) return false;
  return block.content.some((part) => part.type === "image");
}

function tokensOf(block: Block | Tool, text: string): number {
  return block.type === "image" ? IMAGE_TOKENS : estimateTokens(text);
}

function lifetime(marker: CacheControl | null | undefined): "5m" | "1h" | undefined {
  return marker ? (marker.ttl ?? "5m") : undefined;
}

function ttlOf(block: Block | Tool): "5m" | "1h" | undefined {
  const own = lifetime(block.cache_control);
  if (own || block.type !== "tool_result" || !Array.isArray(block.content)) return own;
  return lifetime(block.content.findLast((part) => part.cache_control)?.cache_control);
}

function isCacheable(block: Block | Tool): boolean {
  if (block.type === "thinking" || block.type === "redacted_thinking") return false;
  return block.type !== "text" || block.text !== "";
}

// The marker at the top of a request goes to the last place that can carry one.
function markLast(positions: Position[], marker: CacheControl | null | undefined): Position[] {
  const ttl = lifetime(marker);
  const last = positions.findLast((position) => position.cacheable);
  if (ttl && last && !last.ttl) last.ttl = ttl;
  return positions;
}
