import type { MemdirStub, MemoryHead } from "../../../src/platform/objects/memdir-rpc.ts";
import { answered } from "./store-request.ts";

interface ListRequest {
  /** "" or a folder that ends in "/". */
  prefix: string;
  /** 1: what lies deeper than the prefix's own children shows as its folder. */
  depth: 0 | 1;
  limit: number;
  /** Where the page before ended: a path, or a folder that ends in "/". */
  after: string | undefined;
}

type ListItem =
  | { at: string; head: MemoryHead }
  /** A folder, with its final "/". */
  | { at: string; head: undefined };

/** Heads that one call gives for a rolled-up page. */
const CHUNK = 200;
/** Sorts after every path of a folder: longer than a path may be, of the last character there is. */
const LAST = "\u{10ffff}".repeat(256);

/**
 * One page in order of paths. `next` is where it ended, null where nothing follows. A folder costs
 * one call at most, however many memories lie in it.
 */
export async function listMemories(
  store: MemdirStub,
  { prefix, depth, limit, after }: ListRequest,
): Promise<{ items: ListItem[]; next: string | null }> {
  const items: ListItem[] = [];
  let last = after;
  for (;;) {
    const query = { prefix, limit: depth === 0 ? limit + 1 - items.length : CHUNK };
    const page = answered(await store.list({ ...query, after: last && endOf(last) }));
    for (const head of page.heads) {
      const item = depth === 0 ? { at: head.path, head } : rolledUp(prefix, head);
      if (item.at === items.at(-1)?.at) continue;
      if (items.length === limit) return { items, next: items.at(-1)?.at ?? null };
      items.push(item);
      last = item.at;
    }
    if (page.next === null || page.heads.length === 0) return { items, next: null };
  }
}

function rolledUp(prefix: string, head: MemoryHead): ListItem {
  const slash = head.path.indexOf("/", prefix.length);
  if (slash < 0) return { at: head.path, head };
  return { at: head.path.slice(0, slash + 1), head: undefined };
}

/** Where the next item begins after a place: a folder ends after all that it holds. */
function endOf(place: string): string {
  return place.endsWith("/") ? place + LAST : place;
}
