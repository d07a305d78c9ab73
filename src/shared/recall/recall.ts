// Path B of reading: once a user turn, the few memories that are relevant to the user's message. If a
// part fails, its result is missing; the turn continues.

import type { Explanation } from "../events/memory.ts";
import { SCAN_FILES } from "../limits/memory.ts";
import { RECALL_SESSION_BYTES, RECALL_TURN_BYTES, RECALL_VERIFY_MS } from "../limits/recall.ts";
import { ageOf } from "../memdir/age.ts";
import type { MemoryType } from "../memdir/types.ts";
import { byteLength } from "../text/bytes.ts";
import { decodeText } from "../text/decode.ts";
import { type AttachedMemory, attachmentOf } from "./attach.ts";
import { shownPart } from "./body.ts";
import { type ChoosePorts, chooseMemories } from "./choose.ts";
import { cutMemory, fitBudget, type MemoryCut } from "./cut.ts";
import { type Held, offer, type Scanned } from "./offer.ts";
import type { Workspace } from "./probe.ts";
import type { Spoken } from "./recent.ts";
import { verifyClaims } from "./verify.ts";
import { wordCount } from "./words.ts";

/** Paths are relative to the memory directory. */
export interface RecallInput extends Held {
  message: string;
  /** What was said before it, oldest first. */
  recent: readonly Spoken[];
  toolsInUse: readonly string[];
  /** The time now, in words. */
  time: string;
  /** Bytes that earlier turns injected. */
  sessionBytes: number;
  /** The agent's path of the memory directory. */
  directory: string;
  /** Who chooses if the model does not. */
  fallback: "words" | "none";
}

export interface RecallPorts extends ChoosePorts {
  /** Newest first. */
  scan(limit: number): Promise<Scanned[]>;
  read(path: string): Promise<Uint8Array | undefined>;
  /** Undefined if claims cannot be checked. */
  workspace: Workspace | undefined;
  /** Milliseconds since the epoch. */
  now(): number;
  /** The ISO date of such a time where the user is. */
  dateOf(at: number): string;
}

export interface Recalled {
  explanation: Explanation;
  /** Paths that were offered. */
  candidates: string[];
  attachment: string | undefined;
  /** The memories in the attachment. */
  attached: readonly AttachedMemory[];
  /** The same by id and relative path; `bytes` in UTF-8. */
  shown: { id: string; path: string; bytes: number }[];
  /** Whether the message states what could matter later; undefined where no model has said. */
  worthKeeping: boolean | undefined;
}

interface Memory extends MemoryCut {
  id: string;
  path: string;
  changed: string | undefined;
  type: MemoryType | undefined;
  ageMs: number | undefined;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Whether a message starts a search: one word says too little. */
export function wantsRecall(message: string): boolean {
  return wordCount(message) > 1;
}

/**
 * Scans, chooses by one model call, reads the chosen memories, applies the limits, checks the claims
 * and makes one attachment; ages are those at the end of the scan. Never throws when a port fails.
 */
export async function recall(input: RecallInput, ports: RecallPorts): Promise<Recalled> {
  const startedAt = ports.now();
  // What is not offered again must not use up the limit of the scan.
  const excluded = input.shown.size + input.read.size;
  const scanned = await undefinedOnError(() => ports.scan(SCAN_FILES + excluded));
  const now = ports.now();
  const { offered, dropped } = offer(scanned ?? [], input, now);
  const choice = await chooseMemories({ ...input, candidates: offered }, ports);
  const chosenAt = ports.now();
  const chosenCandidates = choice.selected.flatMap(
    (path) => offered.find((candidate) => candidate.path === path) ?? [],
  );
  const memories = await readAll(chosenCandidates, ports, now);
  const { kept, over } = withinLimits(memories, input.sessionBytes);
  const names = new Set((scanned ?? []).map(({ path }) => path));
  const unconfirmed = await verify(kept, ports, names);
  const attached = kept.map(({ path, text, changed, cut, totalBytes, ageMs }) => ({
    ...{ changed, cut, totalBytes, ageMs },
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
      fallback,
      timings_ms: { scan: now - startedAt, select: chosenAt - now, read: ports.now() - chosenAt },
    },
    candidates: offered.map(({ path }) => path),
    attachment: attached.length === 0 ? undefined : attachmentOf(attached),
    attached,
    shown: kept.map(({ id, path, bytes }) => ({ id, path, bytes })),
    worthKeeping: choice.worthKeeping,
  };
}

/**
 * The same recall without the memories that the model read, wrote or deleted itself during the search.
 */
export function withoutRead(recalled: Recalled, read: ReadonlySet<string>): Recalled {
  const { explanation, attached, shown } = recalled;
  const late = shown.filter(({ path }) => read.has(path));
  if (late.length === 0) return recalled;
  // `attached` and `shown` have the same order.
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

/** Empties a recall that came too late for its turn: the explanation says that nothing was used. */
export function discardRecall({ explanation, candidates, worthKeeping }: Recalled): Recalled {
  const late = explanation.selected.map(({ path }) => ({ path, reason: "not_used" as const }));
  return {
    explanation: { ...explanation, selected: [], dropped: [...explanation.dropped, ...late] },
    candidates,
    attachment: undefined,
    attached: [],
    shown: [],
    worthKeeping,
  };
}

/** In parallel, in the selector's order. Leaves out what is unreadable, binary or blank. */
async function readAll(
  candidates: readonly Scanned[],
  ports: RecallPorts,
  now: number,
): Promise<Memory[]> {
  const texts = await Promise.all(
    candidates.map(async ({ path }) => {
      const bytes = await undefinedOnError(() => ports.read(path));
      return bytes === undefined ? undefined : decodeText(bytes);
    }),
  );
  return candidates.flatMap(({ id, path, type, updatedAt }, at) => {
    const text = texts[at];
    if (text === undefined || text.trim() === "") return [];
    const ageMs = ageOf(updatedAt, now);
    // Counted back from now, as the age is: a time in the future is now.
    const changed = ageMs === undefined ? undefined : ports.dateOf(now - ageMs);
    const shown = { ...cutMemory(shownPart(text)), totalBytes: byteLength(text) };
    return [{ id, path, type, ageMs, changed, ...shown }];
  });
}

function withinLimits(memories: readonly Memory[], sessionUsed: number) {
  const limits = { turn: RECALL_TURN_BYTES, session: RECALL_SESSION_BYTES, sessionUsed };
  const { kept, dropped } = fitBudget(memories, limits);
  return { kept: memories.filter(({ path }) => kept.includes(path)), over: dropped };
}

/** The claims in the shown part of each memory that failed; none if the check takes too long. */
async function verify(
  memories: readonly Memory[],
  ports: RecallPorts,
  memoryFiles: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string[]>> {
  if (!ports.workspace || memories.length === 0) return new Map();
  const checks = verifyClaims(memories, ports.workspace, undefined, memoryFiles);
  return (await undefinedOnError(() => ports.within(RECALL_VERIFY_MS, checks))) ?? new Map();
}

function asUnreadable(path: string): { path: string; reason: "unreadable" } {
  return { path, reason: "unreadable" };
}

async function undefinedOnError<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch {
    return undefined;
  }
}
