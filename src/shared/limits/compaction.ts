// Compaction of a conversation.

/** Model calls of one compaction: one a part, and those whose prompt proved too long. */
export const COMPACTION_PARTS = 8;
/** Compactions that may fail in a row before a turn goes on without one. */
export const COMPACTION_FAILURES = 3;
/** Output tokens of a summary. */
export const SUMMARY_TOKENS = 8_000;
/** Files that a compaction attaches again. */
export const COMPACTED_FILES = 5;
