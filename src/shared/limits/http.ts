// Requests, pages and event streams.

/** A JSON request body, in bytes. */
export const REQUEST_BODY_BYTES = 1_000_000;
/** Nesting of a JSON request body: deeper input is an attack on recursive code, not a message. */
export const REQUEST_BODY_DEPTH = 64;
/** Events in one send. Source: `initial_events` of the official SDK. */
export const EVENTS_PER_SEND = 50;
/** An Idempotency-Key, in characters. */
export const IDEMPOTENCY_KEY_CHARACTERS = 255;
/** How long a key is stored, in milliseconds: longer than clients keep retrying. */
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
/**
 * What is fixed of a session, in bytes of JSON, that its account keeps for the list: a page of them
 * is a fifth of what an internal call takes. A larger one is asked of the session.
 */
export const LISTED_BYTES = 64_000;
/** Events on one page: default and most. */
export const EVENT_PAGE_DEFAULT = 100;
export const EVENT_PAGE_MOST = 1000;
/**
 * JSON of one page of events, or of one read for a stream, in bytes: with what is sent of it at the
 * same time a small part of the 128 MB of an isolate and of the 32 MiB of an internal call. Twice the
 * largest event, so that a page has at least two.
 */
export const EVENT_PAGE_BYTES = 4_000_000;
/**
 * From so many bytes on, what is stored of an event goes to its client as the bytes that lie in its
 * row: below, a text is cheaper; above, its copies are what fills the memory.
 */
export const EVENT_BYTES_AS_THEY_ARE = 16_384;
/** Interval of comments on a quiet event stream, in milliseconds: proxies time out after 30 s or more. */
export const STREAM_PING_MS = 15_000;
/**
 * Previews that come within so many milliseconds are sent as one: one frame of a screen, which shows
 * no more than that.
 */
export const PREVIEW_FRAME_MS = 16;
/**
 * Characters of text that wait for their frame at most: a quarter of what a subscriber's buffer
 * takes, so that one that reads keeps its place.
 */
export const PREVIEW_CHARACTERS = 16_384;
/** Events read at once for one subscriber. */
export const STREAM_BATCH = 100;
/** Bytes of a body over its limit that are read and dropped before the connection is closed. */
export const DROPPED_BODY_BYTES = 32_000_000;
