// A page of events as a client gets it: a stream of its JSON. Of a large page only what is being sent
// is in memory, however slowly somebody reads it.

import type { EventQuery, EventSizes, SentEvent } from "../rows/events.ts";
import { openPipe } from "./byte-pipe.ts";
import { chunksOf, type Piece } from "./chunks.ts";

/** Bytes of events that are read at once; a single one may have more. */
const READ_BYTES = 65_536;

export interface PagedLog {
  sizes(query: EventQuery): EventSizes;
  /** The first events that match; fewer than `count` where the log is gone. */
  read(query: EventQuery, count: number): SentEvent[];
}

/**
 * `{"data": […], "next_page": …}`, with `cursorOf` the last event where more follow. Which events are
 * on the page is decided at once, and what comes later changes nothing. The stream fails where the
 * log is gone before it is read.
 */
export function eventPage(
  log: PagedLog,
  query: EventQuery,
  cursorOf: (last: number) => string,
): ReadableStream<Uint8Array> {
  const { sizes, more } = log.sizes(query);
  const last = sizes.at(-1)?.seq;
  const next = more && last !== undefined ? cursorOf(last) : null;
  const pipe = openPipe();
  const sending = async () => {
    for (const pieces of pagePieces(log, query, sizes, next)) {
      for (const chunk of chunksOf(pieces)) await pipe.write(chunk);
    }
    await pipe.close();
  };
  // Where the client has left there is nothing to abort.
  sending().catch((error: unknown) => pipe.abort(error).catch(() => {}));
  return pipe.readable;
}

/** What is read at once, one after the other. */
function* pagePieces(
  log: PagedLog,
  query: EventQuery,
  sizes: EventSizes["sizes"],
  next: string | null,
): Generator<Piece[]> {
  let pieces: Piece[] = ['{"data":['];
  let rest = query;
  for (let sent = 0; sent < sizes.length; ) {
    const count = countOf(sizes, sent);
    const events = log.read(rest, count);
    if (events.length < count) throw new Error("The log was cleared while a page of it was sent");
    for (const event of events) {
      if (sent > 0) pieces.push(",");
      pieces.push(event.head);
      if (event.rest) pieces.push(event.rest);
      rest =
        query.order === "desc" ? { ...rest, before: event.seq } : { ...rest, after: event.seq };
      sent += 1;
    }
    if (sent === sizes.length) break;
    yield pieces;
    pieces = [];
  }
  yield [...pieces, `],"next_page":${JSON.stringify(next)}}`];
}

/** How many of the events from `from` on are read at once. */
function countOf(sizes: EventSizes["sizes"], from: number): number {
  let bytes = 0;
  let count = 0;
  for (const size of sizes.slice(from)) {
    bytes += size.bytes;
    if (count > 0 && bytes > READ_BYTES) break;
    count += 1;
  }
  return count;
}
