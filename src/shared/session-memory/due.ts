// When the notes are due: a rule over the size of the conversation now, never over what it took in all.

import type { Usage } from "../loop/model.ts";

/** How far the notes are, and how far the conversation is. */
export interface NotesMark {
  /**
   * Tokens of the conversation at the last finished update, or after a compaction since; null until a
   * first update has finished.
   */
  baseline: number | null;
  /** Tool calls since then. */
  toolCalls: number;
  /** Tokens of the conversation now. */
  tokens: number;
  /** Whether the last answer asked for tools: without, it is a natural pause. */
  asked: boolean;
}

export interface NotesThresholds {
  firstTokens: number;
  growthTokens: number;
  toolCalls: number;
}

/** The size of a conversation by the last usage: all that went in, cached or not, and what came out. */
export function conversationTokens(usage: Usage): number {
  return usage.input + usage.cacheRead + usage.cacheCreation + usage.output;
}

/**
 * Whether an update is due. The first one when the conversation has its size; each next one when it
 * has grown enough and has either used tools or come to a pause.
 */
export function notesDue(mark: NotesMark, thresholds: NotesThresholds): boolean {
  if (mark.baseline === null) return mark.tokens >= thresholds.firstTokens;
  if (mark.tokens - mark.baseline < thresholds.growthTokens) return false;
  return mark.toolCalls >= thresholds.toolCalls || !mark.asked;
}
