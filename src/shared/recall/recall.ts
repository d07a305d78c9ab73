// Path B of reading: once a user turn, the few memories that bear on the user's message. A failure of
// any part costs what that part would have given, never the turn.

import type { Explanation } from "../events/memory.ts";
import { SCAN_FILES } from "../limits/memory.ts";
import { RECALL_SESSION_BYTES, RECALL_TURN_BYTES, RECALL_VERIFY_MS } from "../limits/recall.ts";
import { ageOf } from "../memdir/age.ts";
import type { MemoryType } from "../memdir/types.ts";
import { decodeText } from "../text/decode.ts";
import { type AttachedMemory, attachmentOf } from "./attach.ts";
import { type ChoosePorts, chooseMemories } from "./choose.ts";
import { cutMemory, fitBudget, type MemoryCut } from "./cut.ts";
import type { Candidate } from "./list.ts";
import { offer } from "./offer.ts";
import type { Workspace } from "./probe.ts";
import { verifyClaims } from "./verify.ts";
import { wordCount } from "./words.ts";

export interface RecallInput {
  message: string;
  toolsInUse: readonly string[];
  /** Relative paths that were injected before. */
  shown: ReadonlySet<string>;
  /** Relative paths that the model has read or written itself. */
  read: ReadonlySet<string>;
  /** Bytes that earlier turns injected. */
  sessionBytes: number;
  /** The memory directory as the agent sees it. */
  directory: string;
  /** Who chooses where the model does not. */
  fallback: "words" | "none";
}

export interface RecallPorts extends ChoosePorts {
  /** Newest first. */
  scan(limit: number): Promise<Candidate[]>;
  read(path: string): Promise<Uint8Array | undefined>;
  /** Undefined where nobody can look at it. */
  workspace: Workspace | undefined;
  /** Milliseconds since the epoch. */
  now(): number;
}

export interface Recalled {
  explanation: Explanation;
  /** Paths that were offered. */
  candidates: string[];
  attachment: string | undefined;
  /** What the attachment is made of. */
  attached: readonly AttachedMemory[];
  /** The same by relative path, in UTF-8 bytes. */
  shown: { path: string; bytes: number }[];
}

interface Memory extends MemoryCut {
  path: string;
  type: MemoryType | undefined;
  ageMs: number | undefined;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Whether a message is searched for: one word says too little. */
export function wantsRecall(message: string): boolean {
  return wordCount(message) > 1;
}

/**
 * Scans, lets one call choose, reads what was chosen, holds it to its limits, checks what it names and
 * puts it into one attachment, whose ages are those of the scan's end. Never throws for what a port
 * fails at.
 */
export async function recall(input: RecallInput, ports: RecallPorts): Promise<Recalled> {
  const started = ports.now();
  // What is not to be offered again must not take the place of what is.
  const excluded = new Set([...input.shown, ...input.read]).size;
  const scanned = await quietly(() => ports.scan(SCAN_FILES + excluded));
  const now = ports.now();
  const { offered, dropped } = offer(scanned ?? [], input, now);
  const choice = await chooseMemories({ ...input, candidates: offered }, ports);
  const chosen = ports.now();
  const heads = choice.selected.flatMap((path) => offered.find((head) => head.path === path) ?? []);
  const memories = await readAll(heads, ports, now);
  const { kept, over } = withinLimits(memories, input.sessionBytes);
  const names = new Set((scanned ?? []).map(({ path }) => path));
  const unconfirmed = await verify(kept, ports, names);
  const attached = kept.map(({ path, text, ...memory }) => ({
    ...memory,
    path: `${input.directory}/${path}`,
    shown: text,
    unconfirmed: unconfirmed.get(path) ?? [],
  }));
  const unreadable = choice.selected.filter((path) => !memories.some((each) => each.path === path));
  const fallback = scanned === undefined ? "scan_failed" : choice.fallback;
  return {
    explanation: {
      offered: offered.length,
      selected: kept.map(({ path, type, ageMs, bytes }) => {
        const age_days = ageMs === undefined ? null : Math.floor(ageMs / DAY_MS);
        return { path, type: type ?? null, age_days, bytes };
      }),
      dropped: [...dropped, ...choice.dropped, ...unreadable.map(asUnreadable), ...over],
      source: choice.source,
      ...(fallback === undefined ? {} : { fallback }),
      timings_ms: { scan: now - started, select: chosen - now, read: ports.now() - chosen },
    },
    candidates: offered.map(({ path }) => path),
    attachment: attached.length === 0 ? undefined : attachmentOf(attached),
    attached,
    shown: kept.map(({ path, bytes }) => ({ path, bytes })),
  };
}

/**
 * The same recall without memories that the model has read, written or deleted itself while it was
 * searched for.
 */
export function withoutRead(recalled: Recalled, read: ReadonlySet<string>): Recalled {
  const { explanation, attached, shown } = recalled;
  const late = shown.filter(({ path }) => read.has(path));
  if (late.length === 0) return recalled;
  // Both are in the order in which they were chosen.
  const kept = attached.filter((_, n) => !read.has(shown[n]?.path ?? ""));
  const dropped = late.map(({ path }) => ({ path, reason: "already_read" as const }));
  return {
    ...recalled,
    explanation: {
      ...explanation,
      selected: explanation.selected.filter(({ path }) => !read.has(path)),
      dropped: [...explanation.dropped, ...dropped],
    },
    attachment: kept.length === 0 ? undefined : attachmentOf(kept),
    attached: kept,
    shown: shown.filter(({ path }) => !read.has(path)),
  };
}

/** The explanation of a recall that came too late for its turn: nothing was used. */
export function discardRecall({ explanation, candidates }: Recalled): Recalled {
  const late = explanation.selected.map(({ path }) => ({ path, reason: "not_used" as const }));
  return {
    explanation: { ...explanation, selected: [], dropped: [...explanation.dropped, ...late] },
    candidates,
    attachment: undefined,
    attached: [],
    shown: [],
  };
}

/** Side by side, in the selector's order; without those that cannot be read, are no text or blank. */
async function readAll(
  heads: readonly Candidate[],
  ports: RecallPorts,
  now: number,
): Promise<Memory[]> {
  const texts = await Promise.all(
    heads.map(async ({ path }) => {
      const bytes = await quietly(() => ports.read(path));
      return bytes === undefined ? undefined : decodeText(bytes);
    }),
  );
  return heads.flatMap(({ path, type, updatedAt }, at) => {
    const text = texts[at];
    if (text === undefined || text.trim() === "") return [];
    return [{ path, type, ageMs: ageOf(updatedAt, now), ...cutMemory(text) }];
  });
}

function withinLimits(memories: readonly Memory[], sessionUsed: number) {
  const limits = { turn: RECALL_TURN_BYTES, session: RECALL_SESSION_BYTES, sessionUsed };
  const { kept, dropped } = fitBudget(memories, limits);
  return { kept: memories.filter(({ path }) => kept.includes(path)), over: dropped };
}

/** What the shown part of each memory names and is not there; nothing where that took too long. */
async function verify(
  memories: readonly Memory[],
  ports: RecallPorts,
  memoryFiles: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string[]>> {
  if (!ports.workspace || memories.length === 0) return new Map();
  const checks = verifyClaims(memories, ports.workspace, undefined, memoryFiles);
  return (await quietly(() => ports.within(RECALL_VERIFY_MS, checks))) ?? new Map();
}

function asUnreadable(path: string): { path: string; reason: "unreadable" } {
  return { path, reason: "unreadable" };
}

async function quietly<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch {
    return undefined;
  }
}
