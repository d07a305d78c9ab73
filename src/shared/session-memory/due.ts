// When the notes are due. The rule uses the present size of the conversation, not the tokens of all
// requests together.

import type { Usage } from "../loop/model.ts";

/** The state of the notes and of the conversation. */
export interface NotesMark {
  /**
   * Tokens of the conversation at the last finished update, or after a later compaction; null until the
   * first update has finished.
   */
  baseline: number | null;
  /** Tool calls since then. */
  toolCalls: number;
  /** Tokens of the conversation now. */
  tokens: number;
  /** Whether the last answer called tools; an answer without is a natural pause. */
  asked: boolean;
}

interface NotesThresholds {
  firstTokens: number;
  growthTokens: number;
  toolCalls: number;
}

/** Tokens of a conversation by its last usage: all input, cached or not, and the output. */
export function conversationTokens(usage: Usage): number {
  return usage.input + usage.cacheRead + usage.cacheCreation + usage.output;
}

/**
 * Whether an update is due: the first one at a size, each later one after enough growth together with
 * enough tool calls or a natural pause.
 */
export function notesDue(mark: NotesMark, thresholds: NotesThresholds): boolean {
  if (mark.baseline === null) return mark.tokens >= thresholds.firstTokens;
  if (mark.tokens - mark.baseline < thresholds.growthTokens) return false;
  return mark.toolCalls >= thresholds.toolCalls || !mark.asked;
}
