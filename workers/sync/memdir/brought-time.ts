// The age of what comes from elsewhere. A person's export says in its frontmatter when a memory last
// changed, and a copy is as old as its original: neither was news on the day that it came here.

import type { Actor } from "../../../src/platform/objects/memdir-rpc.ts";
import type { Content } from "./contents.ts";
import { entryOf } from "./parsed.ts";

/** A time before this is no memory's: clocks that were never set say 1970 or 1980. */
const EARLIEST = Date.UTC(2000, 0, 1);

/**
 * When the content of a new memory last changed, in epoch milliseconds, if that was before now: by its
 * own word where it comes from outside, else by the memory that it is a copy of. What a session writes
 * is new whatever it says of itself: a model copies such lines.
 */
export function broughtTime(
  sql: SqlStorage,
  { bytes, sha256 }: Content,
  actor: Actor,
  now: number,
): number | undefined {
  const said = actor.type === "session" ? undefined : saidTime(bytes, now);
  return said ?? originalTime(sql, sha256);
}

/**
 * The same of a file that somebody replaced in R2: a time counts only where they set it. One that stood
 * there before is of before.
 */
export function replacedTime(
  bytes: Uint8Array,
  before: Uint8Array,
  now: number,
): number | undefined {
  const said = saidTime(bytes, now);
  return said === saidTime(before, now) ? undefined : said;
}

/** When the content of a memory that has these very bytes now last changed. */
function originalTime(sql: SqlStorage, sha256: string): number | undefined {
  // By the index of the history: a head is where its version is, and a store may have 2,000 of them.
  const rows = sql.exec<{ at: number }>(
    `SELECT h.updated_at AS at FROM versions AS v JOIN heads AS h ON h.path = v.path AND h.n = v.n
     WHERE v.sha256 = ? LIMIT 1`,
    sha256,
  );
  return rows.toArray()[0]?.at;
}

function saidTime(bytes: Uint8Array, now: number): number | undefined {
  const { modified } = entryOf(bytes);
  return modified !== undefined && modified >= EARLIEST && modified < now ? modified : undefined;
}
