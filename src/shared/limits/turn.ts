// A turn: model calls, retries, rows, waits.

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
/** Blocks of one answer, and their highest number: with the least result each, a row is not full. */
export const ANSWER_BLOCKS = 4000;
/** Tokens that one figure of a model's usage may say: beyond it the server is wrong. */
export const USAGE_TOKENS = 1_000_000_000;
/** The report of a session's tokens is waited for at the end of a turn, in milliseconds. */
export const USAGE_REPORT_MS = 500;
