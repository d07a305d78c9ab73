// Background runs over what was said: forks, leases, the queue.

/** Wait for work in flight when a session is deleted, in milliseconds. */
export const DRAIN_MS = 60_000;
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
