import { type Position, positionsOf } from "./render.ts";
import type { Prompt } from "./wire.ts";

// A simulated prompt cache: which part of a prompt a caller would read, write or pay in full.
// It follows the published rules (exact prefixes, markers, look-back, lifetime, minimum length) on
// ESTIMATED tokens, so its figures show whether a caller keeps its prefix stable, not what a real
// bill would say. One meter is one fake model's cache; each API key sees its own entries only.

export interface InputUsage {
  input_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
  cache_creation: { ephemeral_5m_input_tokens: number; ephemeral_1h_input_tokens: number };
}

export interface Metered {
  usage: InputUsage;
  totalTokens: number;
  /** Call it when the first byte goes out: only then can others read what this request wrote. */
  commit(): void;
}

export interface Meter {
  measure(request: Prompt, account: Account): Metered;
  clear(): void;
}

export interface Account {
  apiKey: string;
  minCacheTokens: number;
  startedAt: number;
}

interface Entry {
  ttl: "5m" | "1h";
  touchedAt: number;
}

const LOOK_BACK_BLOCKS = 20;
const TTL_MS = { "5m": 5 * 60_000, "1h": 60 * 60_000 };
const MAX_ENTRIES = 20_000;

export function createMeter(): Meter {
  const entries = new Map<string, Entry>();
  return {
    measure: (request, account) => measure(entries, positionsOf(request), account),
    clear: () => entries.clear(),
  };
}

/** The whole prompt in estimated tokens, as count_tokens answers. */
export function countTokens(request: Prompt): number {
  return positionsOf(request).at(-1)?.tokens ?? 0;
}

function measure(entries: Map<string, Entry>, positions: Position[], account: Account): Metered {
  const { apiKey, minCacheTokens, startedAt } = account;
  const totalTokens = positions.at(-1)?.tokens ?? 0;
  const keyOf = (position: Position) => `${apiKey}|${position.hash}`;
  const live = (position: Position) => {
    const entry = entries.get(keyOf(position));
    return entry !== undefined && startedAt - entry.touchedAt < TTL_MS[entry.ttl];
  };
  // The cache skips a prefix below the model's minimum in silence.
  const marks = [...positions.entries()].filter(
    ([, position]) => position.ttl && position.tokens >= minCacheTokens,
  );
  const hit = longestHit(positions, marks, live);
  const read = hit?.tokens ?? 0;

  const created = { "5m": 0, "1h": 0 };
  let paidUpTo = read;
  for (const [, position] of marks) {
    if (!position.ttl || position.tokens <= paidUpTo) continue;
    created[position.ttl] += position.tokens - paidUpTo;
    paidUpTo = position.tokens;
  }

  return {
    totalTokens,
    usage: {
      input_tokens: totalTokens - paidUpTo,
      cache_creation_input_tokens: created["5m"] + created["1h"],
      cache_read_input_tokens: read,
      cache_creation: {
        ephemeral_5m_input_tokens: created["5m"],
        ephemeral_1h_input_tokens: created["1h"],
      },
    },
    commit: () => {
      const touched = hit ? [hit] : [];
      for (const position of [...touched, ...marks.map(([, position]) => position)]) {
        touch(entries, keyOf(position), position.ttl, startedAt);
      }
    },
  };
}

function longestHit(
  positions: Position[],
  marks: [number, Position][],
  live: (position: Position) => boolean,
): Position | undefined {
  let best: Position | undefined;
  for (const [at] of marks.toReversed()) {
    const found = positions.slice(Math.max(0, at - LOOK_BACK_BLOCKS), at + 1).findLast(live);
    if (found && found.tokens > (best?.tokens ?? 0)) best = found;
  }
  return best;
}

// A lifetime counts from the start of the request that wrote or read the entry, and a read renews
// the entry for its own lifetime. A later-finished but earlier-started request never shortens it.
function touch(
  entries: Map<string, Entry>,
  key: string,
  ttl: "5m" | "1h" | undefined,
  startedAt: number,
): void {
  const known = entries.get(key);
  if (known && startedAt - known.touchedAt < TTL_MS[known.ttl]) {
    known.touchedAt = Math.max(known.touchedAt, startedAt);
    return;
  }
  if (!ttl) return;
  entries.delete(key);
  entries.set(key, { ttl, touchedAt: startedAt });
  const oldest = entries.keys().next().value;
  if (entries.size > MAX_ENTRIES && oldest !== undefined) entries.delete(oldest);
}
