// The search of a turn for memories.

/** Memories that one turn is given, and what the selector may choose. */
export const RECALL_FILES = 5;
/** One recalled memory: lines, then UTF-8 bytes of its text as it is shown; wrapper text not counted. */
export const RECALL_LINES = 200;
export const RECALL_FILE_BYTES = 4 * 1024;
/** Recalled text of one turn, in UTF-8 bytes. */
export const RECALL_TURN_BYTES = 20 * 1024;
/** Recalled text of one session until it is compacted, in UTF-8 bytes. */
export const RECALL_SESSION_BYTES = 60 * 1024;
/** Output tokens of the selector. */
export const RECALL_TOKENS = 256;
/** The selector's answer is waited for this long before words choose in its place, in milliseconds. */
export const RECALL_SELECT_MS = 10_000;
/** The user's message as the selector is shown it, in characters: a question fits, a pasted log does not. */
export const RECALL_QUERY_CHARACTERS = 4000;
/** The checks of what memories name, in milliseconds; what is not known by then is not said. */
export const RECALL_VERIFY_MS = 2_000;
/**
 * A search that nobody waits for begins so long after the main model was asked, in milliseconds, or at
 * once when the model calls a tool: so it takes nothing from the time to the answer's first byte.
 */
export const RECALL_BEGIN_MS = 100;
/** A turn that waited for somebody outside waits so long for its search when it goes on, in milliseconds. */
export const RECALL_RESUME_MS = 2_000;
/** Paths and symbols of one memory that are checked. */
export const RECALL_CLAIMS = 5;
/** Files that one turn's checks open: those that memories name, and those searched for a symbol. */
export const RECALL_NAMED_FILES = 5;
export const RECALL_SEARCHED_FILES = 40;
