// Files and paths: sizes, names, storage calls.

/** A memory file, in UTF-8 bytes. The team server's limit for one file; one limit on every path. */
export const MEMORY_FILE_BYTES = 250_000;
/** A workspace file, in bytes: a project's sources fit, a build artefact does not. */
export const WORKSPACE_FILE_BYTES = 10_000_000;
/** An R2 key, in UTF-8 bytes over the whole key. Source: R2 platform limits. */
export const R2_KEY_BYTES = 1024;
/** A path as a client or a model writes it, in UTF-8 bytes. */
export const PATH_BYTES = 1024;
/** Concurrent storage calls: Workers allow six open connections an invocation. */
export const STORAGE_CONCURRENCY = 6;
/** One segment of a path, in UTF-8 bytes: what ext4, APFS and NTFS still take, so a mount can too. */
export const PATH_SEGMENT_BYTES = 255;
/** Attempts of one R2 call that was refused for its rate or failed for the moment. */
export const R2_ATTEMPTS = 4;
/** Files on one page of a workspace's list. */
export const FILE_PAGE_MOST = 1000;
/**
 * Calls to the file storage after which a turn continues in a new invocation. One may make 10,000 (paid
 * plan, platform documentation), and one answer may ask for several searches of 500 files each.
 */
export const SUBREQUESTS_MOST = 4_000;
