import { MemdirError } from "../errors.ts";
import type { ListQuery } from "./store.ts";

/** Entries on one page unless the query says less. Source: R2's own most. */
const PAGE_ENTRIES = 1000;

/**
 * What every adapter checks before it lists. A prefix without its final slash would match the
 * neighbour ("memory" matches "memory-old/"), so it throws `invalid_request`; so does a limit that
 * is no positive whole number. A larger limit becomes 1,000.
 */
export function checkListQuery(query: ListQuery): { prefix: string; after: string; limit: number } {
  const { prefix, after = "", limit = PAGE_ENTRIES } = query;
  if (prefix !== "" && (!prefix.endsWith("/") || prefix.startsWith("/"))) {
    throw new MemdirError(
      "invalid_request",
      `Cannot list "${prefix}": a prefix is "" or a directory that ends in "/", without "/" in front`,
    );
  }
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw new MemdirError(
      "invalid_request",
      `Cannot list with limit ${limit}: it is a whole number from 1 to ${PAGE_ENTRIES}`,
    );
  }
  return { prefix, after, limit: Math.min(limit, PAGE_ENTRIES) };
}
