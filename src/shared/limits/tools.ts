// Tool calls: input, results, timeouts.

/** Lines that Read returns by default. */
export const READ_LINES = 2000;
/** The result of one Read, in UTF-8 bytes: a few percent of a context window. */
export const READ_BYTES = 100_000;
/** One line in a tool result, in characters; longer ones are cut and marked. */
export const TOOL_LINE_CHARACTERS = 2000;
/** Paths that one Glob returns. */
export const GLOB_RESULTS = 500;
/** Lines that one Grep returns. */
export const GREP_RESULTS = 200;
/** Files that one Grep opens; each costs a storage call, and an invocation has about 1,000. */
export const GREP_FILES = 500;
/** Bytes that one Grep reads: an object has 128 MB of memory. */
export const GREP_TOTAL_BYTES = 20_000_000;
/** A file larger than this is not searched by Grep, in bytes. */
export const GREP_FILE_BYTES = 1_000_000;
/** Entries below one folder that Glob and Grep visit. */
export const WALK_ENTRIES = 10_000;
/** A Glob or Grep pattern, in characters: real ones are short, and each is compiled. */
export const PATTERN_CHARACTERS = 1000;
/** Attempts of one Edit while others change its file. */
export const EDIT_ATTEMPTS = 3;
/** One tool result, in UTF-8 bytes: `READ_BYTES`, and its notes. */
export const TOOL_RESULT_BYTES = 120_000;
/** All results of one answer, in bytes of JSON: they are one message and one row, with room to spare. */
export const TOOL_RESULTS_BYTES = 1_000_000;
/** Minimum share of each call in that, in bytes of JSON: a message, or a beginning and a mark. */
export const TOOL_RESULT_LEAST_BYTES = 400;
/** A search pattern's program, in instructions, and the size that its text may reach by repetition. */
export const PATTERN_PROGRAM = 1000;
/**
 * Steps of patterns between two pauses, in characters times instructions: about 0.2 microseconds each at
 * worst, so some 10 ms. One line must fit in: a larger pattern searches less of it.
 */
export const PATTERN_SLICE_STEPS = 50_000;
/** Steps of patterns in one call: 10 MB for a usual pattern, 15 s for the worst. */
export const PATTERN_STEPS = 100_000_000;
/** Characters of one line that Grep searches. */
export const GREP_LINE_CHARACTERS = 10_000;
/** Timeout of a pending action: a person's approval, and a client's result, in milliseconds. */
export const APPROVAL_TIMEOUT_MS = 24 * 60 * 60 * 1000;
export const CUSTOM_TOOL_TIMEOUT_MS = 60 * 60 * 1000;
/** Client-side tools of one session, one description in characters, and all in bytes of JSON: every request has them. */
export const CUSTOM_TOOLS = 64;
export const CUSTOM_TOOL_DESCRIPTION_CHARACTERS = 10_000;
export const CUSTOM_TOOLS_BYTES = 100_000;
/** The message of a denial, in characters. */
export const DENY_MESSAGE_CHARACTERS = 2_000;
/** Text blocks of one client-side result. */
export const CUSTOM_RESULT_BLOCKS = 100;
