// Making a conversation shorter.

/** Model calls of one compaction: parts of what is too long for one prompt, and tries that were too long. */
export const COMPACTION_PARTS = 8;
/** Compactions that may fail in a row before a turn is no longer held up by one. */
export const COMPACTION_FAILURES = 3;
/** Output tokens of a summary. */
export const SUMMARY_TOKENS = 8_000;
/** Files that are attached anew behind a compaction. */
export const COMPACTED_FILES = 5;
