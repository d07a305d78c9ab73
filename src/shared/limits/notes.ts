// The notes of a session.

/** Tokens of a conversation at which its notes are first written, and growth until each next update. */
export const NOTES_FIRST_TOKENS = 10_000;
export const NOTES_GROWTH_TOKENS = 5_000;
/** Tool calls since the last update that make the next one due in the middle of work. */
export const NOTES_TOOL_CALLS = 3;
/** Tokens of one section of the notes, and of all of them. */
export const NOTES_SECTION_TOKENS = 2_000;
export const NOTES_TOKENS = 12_000;
/** The notes as they are stored, in UTF-8 bytes: what they are held to, and as much again and more between two updates. */
export const NOTES_BYTES = 100_000;
/** Model calls of one notes fork: edits, a second look where some were refused, and the end. */
export const NOTES_ITERATIONS = 5;
/** Updates of the notes that fail one behind the other before the next turn is waited for. */
export const NOTES_FAILURES = 3;
/** One update of the notes, in milliseconds. */
export const NOTES_UPDATE_MS = 2 * 60 * 1000;
/** How long a compaction waits for an update of the notes, in milliseconds. */
export const NOTES_WAIT_MS = 15_000;
