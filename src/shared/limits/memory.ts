// Memory directories: the index, a store, its history.

/** The index in the prompt, in lines. */
export const INDEX_LINES = 200;
/** The index in the prompt, in UTF-8 bytes. */
export const INDEX_BYTES = 25_000;
/** Memories in one store. Source: the official SDK's own limit for its stores. */
export const MEMORIES_PER_STORE = 2000;
/** Backoff of a path in the outbox, in milliseconds: R2 allows one write a second a key. */
export const OUTBOX_MS = 1_100;
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
