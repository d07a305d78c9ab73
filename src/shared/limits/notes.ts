// The notes of a session.

/** Tokens of a conversation at which its notes are first written, and growth until each next update. */
export const NOTES_FIRST_TOKENS = 10_000;
export const NOTES_GROWTH_TOKENS = 5_000;
/** Tool calls since the last update after which the next one is due without a natural pause. */
export const NOTES_TOOL_CALLS = 3;
/** Tokens of one section of the notes, and of all of them. */
export const NOTES_SECTION_TOKENS = 2_000;
export const NOTES_TOKENS = 12_000;
/** The stored notes, in UTF-8 bytes: `NOTES_TOKENS`, and more than that again between two updates. */
export const NOTES_BYTES = 100_000;
/** Model calls of one notes fork: edits, a second look where some were refused, and the end. */
export const NOTES_ITERATIONS = 5;
/** Failed updates in a row, after which the next attempt waits for the next turn. */
export const NOTES_FAILURES = 3;
/** One update of the notes, in milliseconds. */
export const NOTES_UPDATE_MS = 2 * 60 * 1000;
/** How long a compaction waits for an update of the notes, in milliseconds. */
export const NOTES_WAIT_MS = 15_000;
