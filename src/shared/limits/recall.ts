// Recall: the search for memories in a turn.

/** Memories that the selector may choose, and that one turn gets. */
export const RECALL_FILES = 5;
/** One recalled memory: lines, then UTF-8 bytes of the shown text without the wrapper. */
export const RECALL_LINES = 200;
export const RECALL_FILE_BYTES = 4 * 1024;
/** Recalled text of one turn, in UTF-8 bytes. */
export const RECALL_TURN_BYTES = 20 * 1024;
/** Recalled text of one session until a compaction, in UTF-8 bytes. */
export const RECALL_SESSION_BYTES = 60 * 1024;
/** Output tokens of the selector. */
export const RECALL_TOKENS = 256;
/** Timeout of the selector, in milliseconds; then words choose in its place. */
export const RECALL_SELECT_MS = 10_000;
/** The user's message for the selector, in characters: a question fits, a pasted log does not. */
export const RECALL_QUERY_CHARACTERS = 4000;
/** Turns before the question that the selector is shown in short. */
export const RECALL_RECENT_TURNS = 2;
/** Of each text of theirs: its beginning and its end, in characters each. */
export const RECALL_RECENT_CHARACTERS = 160;
/** Entries before the question in which those texts are looked for. */
export const RECALL_RECENT_ENTRIES = 40;
/** A body of fewer words does not stand by itself: it is shown with its frontmatter. */
export const RECALL_BODY_WORDS = 4;
/** Timeout for the checks of claims, in milliseconds. */
export const RECALL_VERIFY_MS = 2_000;
/**
 * A search for which the model call does not wait begins when the model begins to answer, so that it
 * does not delay the answer's first byte; so many milliseconds after that call at the earliest and at the
 * latest. A tool call starts it at once.
 */
export const RECALL_BEGIN_MS = 100;
export const RECALL_LATEST_MS = 300;
/** Longest wait for the search when a paused turn continues, in milliseconds. */
export const RECALL_RESUME_MS = 2_000;
/** Paths of one memory that are checked, and symbols. */
export const RECALL_CLAIMS = 5;
/** Files that the checks of one turn open: those that memories name, and those searched for a symbol. */
export const RECALL_NAMED_FILES = 5;
export const RECALL_SEARCHED_FILES = 40;
