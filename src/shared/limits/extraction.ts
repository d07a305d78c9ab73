// Background runs over a conversation: forks, leases, the queue.

/** Longest wait for running work at the end of a session, in milliseconds. */
export const DRAIN_MS = 60_000;
/** Model calls of one extraction fork. */
export const EXTRACTION_ITERATIONS = 5;
/** Messages of one extraction batch: whole turns, at least one. */
export const EXTRACTION_BATCH_MESSAGES = 40;
/** Of the message from which a fork is to look: so much names it, in characters. */
export const NAMED_CHARACTERS = 160;
/**
 * What the user said after the turns that a fork is shown, in characters: in its task at most so much,
 * as the cache does not have it; in the refusal of a write so much a message, and in all.
 */
export const LATER_IN_TASK_CHARACTERS = 1_000;
export const LATER_CHARACTERS = 4_000;
export const LATER_ALL_CHARACTERS = 16_000;
/** Runs of one batch that may fail before it is dropped. */
export const EXTRACTION_ATTEMPTS = 5;
/** Attempts of one model call within a fork: the run itself is repeated later. */
export const FORK_MODEL_ATTEMPTS = 2;
/** One extraction from lease to cursor, in milliseconds. */
export const EXTRACTION_MS = 5 * 60 * 1000;
/** A lease without a renewal, in milliseconds: longer than `MODEL_IDLE_MS`. */
export const LEASE_MS = 120_000;
/** First and longest backoff before pending work is sent to the queue again, in milliseconds. */
export const RESEND_FIRST_MS = 15_000;
export const RESEND_MOST_MS = 10 * 60 * 1000;
/** Longest delay of a queue message, in seconds: the platform accepts 12 hours. */
export const QUEUE_DELAY_MOST_S = 15 * 60;
/** Calls in the log of a fork. */
export const FORK_LOG_CALLS = 500;
/** How long a queue message waits for the run that it started, in milliseconds; the run goes on either way. */
export const EXTRACT_REPLY_MS = 2_000;
/** Turns after those of a run that are looked at for what the user said later, the newest. */
export const LATER_TURNS = 100;
