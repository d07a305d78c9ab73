// A turn: model calls, retries, rows, timeouts.

/** A value in one SQLite row, in bytes: below the documented 2 MB of a Durable Object. */
export const ROW_BYTES = 1_900_000;
/** A model's answer, in UTF-8 bytes of JSON: it must fit one row. */
export const ANSWER_BYTES = 1_500_000;
/**
 * A session's database from which on it takes no new message, in bytes. The platform's limit is 10 GB
 * (Durable Objects, platform documentation); turns that are queued or run need some of the rest.
 */
export const SESSION_MOST_BYTES = 8_000_000_000;
/** More than that for a turn that runs: before its next model call it is ended then, in bytes. */
export const SESSION_TURN_BYTES = 1_000_000_000;
/** Model calls in one turn. */
export const TURN_ITERATIONS = 50;
/** Attempts of one model call before the turn fails. */
export const MODEL_ATTEMPTS = 5;
/** First backoff before a retry, in milliseconds; it doubles each time. */
export const RETRY_FIRST_MS = 500;
/** Longest backoff of our own, in milliseconds. A server's `retry-after` may be longer. */
export const RETRY_MOST_MS = 16_000;
/** Up to this backoff the loop sleeps; a longer one pauses the turn until an alarm, in milliseconds. */
export const WAIT_IN_MEMORY_MS = 5_000;
/** Longest `retry-after`, in milliseconds; with a longer one the turn fails. */
export const RETRY_AFTER_MOST_MS = 60 * 60 * 1000;
/** Time without a byte from the model's server after which a call is stalled, in milliseconds. */
export const MODEL_IDLE_MS = 90_000;
/** Cut or paused answers that one turn continues. */
export const CONTINUATIONS = 3;
/** Output tokens of one answer. */
export const ANSWER_TOKENS = 32_000;
/** Interval of the alarm that watches a running turn, in milliseconds. */
export const WATCHDOG_MS = 5_000;
/** Blocks of one answer, and their highest index: a minimum result for each fits into a row. */
export const ANSWER_BLOCKS = 4000;
/** Largest count in a model's usage, in tokens: beyond it the server is wrong. */
export const USAGE_TOKENS = 1_000_000_000;
/** Timeout for the question about the budget at the end of a turn, in milliseconds. */
export const BUDGET_MS = 500;
/** Deaths of the process at one step of a turn, a compaction or an extraction before that is given up. */
export const STEP_DEATHS = 3;
