// Memory directories: the index, a store, its history.

/** The index in the prompt, in lines. */
export const INDEX_LINES = 200;
/** The index in the prompt, in UTF-8 bytes. */
export const INDEX_BYTES = 25_000;
/** Memories in one store. Source: the official SDK's own limit for its stores. */
export const MEMORIES_PER_STORE = 2000;
/** Backoff of a path in the outbox, in milliseconds: R2 allows one write a second a key. */
export const OUTBOX_MS = 1_100;
/**
 * A store's database from which on contents that only its history has move to R2, in bytes: a tenth of
 * what the platform gives an object, and twice what the memories themselves can take.
 */
export const STORE_SPILL_BYTES = 1_000_000_000;
/**
 * A store's database from which on it takes nothing new, in bytes. The platform's limit is 10 GB
 * (Durable Objects, platform documentation); deletions, redactions and what they move need the rest.
 */
export const STORE_MOST_BYTES = 8_000_000_000;
/** Contents that move to R2 in one run of the alarm: others wait for as long as that takes. */
export const SPILL_BATCH = 24;
/** Memory files of a scan, newest first. */
export const SCAN_FILES = 200;
/** Longest wait of the change feed, in milliseconds: below the timeout of common proxies. */
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
