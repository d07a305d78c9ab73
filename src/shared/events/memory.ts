// What a session recalls, saves and notes. All of these are ours.

import * as z from "zod";
import type { Receipt } from "../files/receipt.ts";
import { operation } from "../files/receipt.ts";
import { turnEnvelope } from "./envelope.ts";

const dropReason = z.enum([
  "not_in_list",
  "already_shown",
  "already_read",
  "over_file_limit",
  "turn_limit",
  "session_limit",
  /** Not to be read, no text, or nothing in it. */
  "unreadable",
  "not_used",
]);

/** Why a memory that was offered or chosen is not in the conversation. */
export type DropReason = z.infer<typeof dropReason>;

const explanation = z.strictObject({
  /** How many files the selector was offered. */
  offered: z.number(),
  /** Paths are relative to the memory directory. */
  selected: z.array(
    z.strictObject({
      path: z.string(),
      type: z.enum(["user", "feedback", "project", "reference"]).nullable(),
      age_days: z.number().nullable(),
      bytes: z.number(),
    }),
  ),
  dropped: z.array(z.strictObject({ path: z.string(), reason: dropReason })),
  source: z.enum(["model", "words", "none"]),
  /** Why the model's choice does not count, or "scan_failed". */
  fallback: z.string().optional(),
  /** `read` includes the checks. */
  timings_ms: z.strictObject({ scan: z.number(), select: z.number(), read: z.number() }),
});

/** What a search chose and why. */
export type Explanation = z.infer<typeof explanation>;

const recalled = z.strictObject({
  ...turnEnvelope,
  type: z.literal("memory.recalled"),
  ...explanation.shape,
});

/** Writes that were refused, and why. */
const refused = z.array(z.strictObject({ path: z.string(), error: z.string() })).optional();

const saved = z.strictObject({
  ...turnEnvelope,
  type: z.literal("memory.saved"),
  by: z.enum(["agent", "extraction"]),
  store_id: z.string(),
  /** Paths begin with "/". */
  memories: z.array(
    z.strictObject({
      path: z.string(),
      operation,
      memory_id: z.string(),
      memory_version_id: z.string(),
    }),
  ),
  refused,
});

const skipped = z.strictObject({
  ...turnEnvelope,
  type: z.literal("memory.skipped"),
  by: z.enum(["extraction", "session-notes"]),
  reason: z.enum(["already_written", "nothing_new", "budget", "failed", "disabled"]),
  refused,
});

const notesUpdated = z.strictObject({
  ...turnEnvelope,
  type: z.literal("session_memory.updated"),
  /** Of the notes as a whole. */
  tokens: z.number(),
  /** Those that changed. */
  sections: z.array(z.strictObject({ name: z.string(), tokens: z.number() })),
});

export const memoryEvents = [recalled, saved, skipped, notesUpdated] as const;

/** A `memory.saved` of these receipts, without the turn that it belongs to. */
export function savedEvent(
  by: z.infer<typeof saved>["by"],
  storeId: string,
  receipts: readonly Receipt[],
): Omit<z.infer<typeof saved>, keyof typeof turnEnvelope> {
  return {
    type: "memory.saved",
    by,
    store_id: storeId,
    memories: receipts.map(({ path, operation, memoryId, versionId }) => ({
      path: `/${path}`,
      operation,
      memory_id: memoryId,
      memory_version_id: versionId,
    })),
  };
}
