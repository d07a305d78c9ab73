// Every number of the system, with its unit in the name and its reason above it. Functions take
// these as defaulted options, so that a test can shrink them.

/** A memory file, in UTF-8 bytes. The team server's limit for one file; one limit on every path. */
export const MEMORY_FILE_BYTES = 250_000;
/** A workspace file, in bytes: a project's sources fit, a build artefact does not. */
export const WORKSPACE_FILE_BYTES = 10_000_000;
/** An R2 key, in UTF-8 bytes over the whole key. Source: R2 platform limits. */
export const R2_KEY_BYTES = 1024;
/** A path as a client or a model writes it, in UTF-8 bytes. */
export const PATH_BYTES = 1024;

/** Lines that Read returns when it is not told how many. */
export const READ_LINES = 2000;
/** What one Read returns at most, in UTF-8 bytes: a few percent of a context window. */
export const READ_BYTES = 100_000;
/** One line in a tool result, in characters; longer lines are cut and marked. */
export const TOOL_LINE_CHARACTERS = 2000;
/** Paths that one Glob returns. */
export const GLOB_RESULTS = 500;
/** Lines that one Grep returns. */
export const GREP_RESULTS = 200;
/** Files that one Grep opens; each costs a storage call, and an invocation has about 1,000. */
export const GREP_FILES = 500;
/** Bytes that one Grep reads in all: an object has 128 MB of memory. */
export const GREP_TOTAL_BYTES = 20_000_000;
/** A file larger than this is not searched by Grep, in bytes. */
export const GREP_FILE_BYTES = 1_000_000;
/** Storage calls in flight at once: Workers allow six open connections an invocation. */
export const STORAGE_CONCURRENCY = 6;
/** Entries that Glob and Grep look through below one folder. */
export const WALK_ENTRIES = 10_000;

/** The index in the prompt, in lines. */
export const INDEX_LINES = 200;
/** The index in the prompt, in UTF-8 bytes. */
export const INDEX_BYTES = 25_000;

/** A JSON request body, in bytes. */
export const REQUEST_BODY_BYTES = 1_000_000;
/** Nesting of a JSON request body: deeper input is an attack on recursive code, not a message. */
export const REQUEST_BODY_DEPTH = 64;
/** Events in one send. Source: `initial_events` of the official SDK. */
export const EVENTS_PER_SEND = 50;
/** An Idempotency-Key, in characters. */
export const IDEMPOTENCY_KEY_CHARACTERS = 255;
/** How long a key is remembered, in milliseconds: longer than any client keeps retrying. */
export const IDEMPOTENCY_MS = 24 * 60 * 60 * 1000;
/** Metadata pairs, key and value lengths in characters. Source: the official SDK. */
export const METADATA_PAIRS = 16;
export const METADATA_KEY_CHARACTERS = 64;
export const METADATA_VALUE_CHARACTERS = 512;
/** A session's title, in characters. */
export const TITLE_CHARACTERS = 500;
/** Entries on one page of a list: default and most. */
export const PAGE_DEFAULT = 20;
export const PAGE_MOST = 100;
/** Events on one page: default and most. */
export const EVENT_PAGE_DEFAULT = 100;
export const EVENT_PAGE_MOST = 1000;

/** A value in one SQLite row, in bytes: below the documented 2 MB of a Durable Object. */
export const ROW_BYTES = 1_900_000;
/** A model's answer, in UTF-8 bytes of JSON: it must fit one row. */
export const ANSWER_BYTES = 1_500_000;
/** Model calls in one turn. */
export const TURN_ITERATIONS = 50;
/** Tries of one model call before the turn gives up. */
export const MODEL_ATTEMPTS = 5;
/** First pause before a retry, in milliseconds; it doubles each time. */
export const RETRY_FIRST_MS = 500;
/** Longest pause of our own making, in milliseconds. A server's `retry-after` may ask for more. */
export const RETRY_MOST_MS = 16_000;
/** Up to this pause a turn waits in memory; a longer one is left to an alarm, in milliseconds. */
export const WAIT_IN_MEMORY_MS = 5_000;
/** Longest `retry-after` that is obeyed, in milliseconds; beyond it the turn ends with an error. */
export const RETRY_AFTER_MOST_MS = 60 * 60 * 1000;
/** Silence of the model's server after which a call counts as stalled, in milliseconds. */
export const MODEL_IDLE_MS = 90_000;
/** Answers of one turn that may be cut or paused before the turn gives up. */
export const CONTINUATIONS = 3;
/** Output tokens asked of the model for one answer. */
export const ANSWER_TOKENS = 32_000;
/** The alarm looks after a running turn this often, in milliseconds. */
export const WATCHDOG_MS = 5_000;
/** Pause between two comments on a quiet event stream, in milliseconds: proxies cut at 30 s or more. */
export const STREAM_PING_MS = 15_000;
/** Events read at once for one subscriber. */
export const STREAM_BATCH = 100;
/** Wait for work in flight when a session is deleted, in milliseconds. */
export const DRAIN_MS = 60_000;
/** One segment of a path, in UTF-8 bytes: what ext4, APFS and NTFS still take, so a mount can too. */
export const PATH_SEGMENT_BYTES = 255;
/** A Glob or Grep pattern, in characters: real ones are short, and each one is compiled. */
export const PATTERN_CHARACTERS = 1000;
/** Tries of one R2 call that was refused for rate or failed in passing. */
export const R2_ATTEMPTS = 4;
/** Tries of one Edit whose file changes under it before the model is told. */
export const EDIT_ATTEMPTS = 3;
/** Files on one page of a workspace's list. */
export const FILE_PAGE_MOST = 1000;
/** Memories in one store. Source: the official SDK's own limit for its stores. */
export const MEMORIES_PER_STORE = 2000;
/** How long a path waits in the outbox before R2 is tried again: one write a second a key. */
export const OUTBOX_MS = 1_100;
/** Memory files that a scan looks at, newest first. */
export const SCAN_FILES = 200;
/** Longest wait of the change feed, in milliseconds: below the time-out of common proxies. */
export const CHANGES_WAIT_MS = 30_000;
/** A memory through the stores API, in UTF-8 bytes. Source: the official SDK. */
export const STORE_MEMORY_BYTES = 102_400;
/** Segments of a memory's path through the stores API. Source: the official SDK. */
export const STORE_PATH_SEGMENTS = 20;
/** A memory store's name and description, in characters. Source: the official SDK. */
export const STORE_NAME_CHARACTERS = 255;
export const STORE_DESCRIPTION_CHARACTERS = 1024;
/** Memories or versions on one page that carries their content. Source: the official SDK. */
export const FULL_PAGE_MOST = 20;
/** One tool result, in UTF-8 bytes: what Read returns at most, and its notes. */
export const TOOL_RESULT_BYTES = 120_000;
/** All results of one answer, in bytes of JSON: they are one message, so one row, with room to spare. */
export const TOOL_RESULTS_BYTES = 1_000_000;
/** What each call may have of that in any case, in bytes of JSON: a message, or a beginning and a mark. */
export const TOOL_RESULT_LEAST_BYTES = 400;
/** Blocks of one answer, and their highest number: with the least result each, a row is not full. */
export const ANSWER_BLOCKS = 4000;
/** Tokens that one figure of a model's usage may say: beyond it the server is wrong. */
export const USAGE_TOKENS = 1_000_000_000;
/** A search pattern's program, in instructions, and what its text may ask for by repetition. */
export const PATTERN_PROGRAM = 1000;
/**
 * Work of patterns between two pauses, in characters times instructions: about 0.2 microseconds each
 * at worst, so some 10 ms. One line has to fit: a larger pattern sees less of it.
 */
export const PATTERN_SLICE_STEPS = 50_000;
/** Work of patterns in one call, in the same steps: 10 MB for a usual pattern, 15 s for the worst. */
export const PATTERN_STEPS = 100_000_000;
/** Characters of one line that Grep holds a pattern against. */
export const GREP_LINE_CHARACTERS = 10_000;
/** What is read and dropped of a body over its limit before the connection is given up, in bytes. */
export const DROPPED_BODY_BYTES = 32_000_000;
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
/** Model calls of one extraction fork. */
export const EXTRACTION_ITERATIONS = 5;
/** Messages of one extraction batch; whole turns, and one turn in any case. */
export const EXTRACTION_BATCH_MESSAGES = 40;
/** Runs of one batch that may fail before it is dropped. */
export const EXTRACTION_ATTEMPTS = 5;
/** Tries of one model call within a fork: its run comes back by itself, so it need not be patient. */
export const FORK_MODEL_ATTEMPTS = 2;
/** One extraction from lease to cursor, in milliseconds. */
export const EXTRACTION_MS = 5 * 60 * 1000;
/** A background run holds its lease this long between two signs of life, in milliseconds: over the model's longest silence. */
export const LEASE_MS = 120_000;
/** First and longest pause before pending background work is sent to the queue again, in milliseconds. */
export const RESEND_FIRST_MS = 15_000;
export const RESEND_MOST_MS = 10 * 60 * 1000;
/** Longest delay that a queue message is put off by, in seconds: the platform takes 12 hours. */
export const QUEUE_DELAY_MOST_S = 15 * 60;
/** Calls of a fork that its log keeps. */
export const FORK_LOG_CALLS = 500;
/** The report of a session's tokens is waited for at the end of a turn, in milliseconds. */
export const USAGE_REPORT_MS = 500;
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
/** How long a tool call waits for a person's answer, and for a client's result, in milliseconds. */
export const APPROVAL_TIMEOUT_MS = 24 * 60 * 60 * 1000;
export const CUSTOM_TOOL_TIMEOUT_MS = 60 * 60 * 1000;
/** Model calls of one compaction: parts of what is too long for one prompt, and tries that were too long. */
export const COMPACTION_PARTS = 8;
/** Compactions that may fail in a row before a turn is no longer held up by one. */
export const COMPACTION_FAILURES = 3;
/** Output tokens of a summary. */
export const SUMMARY_TOKENS = 8_000;
/** Files that are attached anew behind a compaction. */
export const COMPACTED_FILES = 5;
/** Client-side tools of one session, their descriptions in characters, and all of them in bytes of JSON: they stand in every request. */
export const CUSTOM_TOOLS = 64;
export const CUSTOM_TOOL_DESCRIPTION_CHARACTERS = 10_000;
export const CUSTOM_TOOLS_BYTES = 100_000;
/** What a person says with a denial, in characters: a reason, not a document. */
export const DENY_MESSAGE_CHARACTERS = 2_000;
/** Text blocks of one client-side result. */
export const CUSTOM_RESULT_BLOCKS = 100;
/**
 * Calls to the file storage after which a turn goes on in a new invocation. One may make 10,000 (paid
 * plan, platform documentation), and one answer may ask for several searches of 500 files each.
 */
export const SUBREQUESTS_MOST = 4_000;
