// What a session answers from its rows alone: pages of what it keeps, and the stream of its events.

import { pageCursor } from "../../../src/platform/http/edge.ts";
import { cutPage } from "../../../src/platform/page.ts";
import { MemdirError } from "../../../src/shared/errors.ts";
import type { EventBatch, EventQuery } from "../rows/events.ts";
import { eventSizes, lastSeq, readEventBatch, readSent, seqOfCursor } from "../rows/events.ts";
import { listRecalls } from "../rows/recalls.ts";
import { listRuns } from "../rows/runs.ts";
import { eventPage } from "../stream/event-page.ts";
import { eventStream } from "../stream/event-stream.ts";
import type { Subscriber } from "../stream/subscription.ts";
import { runShape } from "./run-shape.ts";

/** A page of what a session keeps beside its events, and the number after which the next one begins. */
export interface RecordPage {
  data: Record<string, unknown>[];
  next: number | undefined;
}

export interface StreamRequest {
  /** A number or id of an event; without it the stream starts with what comes next. */
  cursor: string | undefined;
  previews: string[];
}

/** The JSON of a page of events, as its client gets it. */
export function openPage(
  sql: SqlStorage,
  query: EventQuery,
  session: { gone(): boolean },
): ReadableStream<Uint8Array> {
  return eventPage(
    {
      sizes: (asked) => eventSizes(sql, asked),
      read: (asked, count) => (session.gone() ? [] : readSent(sql, asked, count)),
    },
    query,
    (last) => pageCursor([query.order ?? "asc", last]),
  );
}

export function recallPage(sql: SqlStorage, query: { after: number; limit: number }): RecordPage {
  const rows = listRecalls(sql, { ...query, limit: query.limit + 1 });
  const { page, last } = cutPage(rows, query.limit);
  return { data: page.map(({ body }) => body), next: last?.turn };
}

export function extractionPage(
  sql: SqlStorage,
  query: { before?: number | undefined; limit: number },
): RecordPage {
  const runs = listRuns(sql, "extraction", { ...query, limit: query.limit + 1 });
  const { page, last } = cutPage(runs, query.limit);
  return { data: page.map((run) => runShape(sql, run)), next: last?.n };
}

const NOTHING: EventBatch = { events: [], more: false };

/** The events after a cursor, then those that come. Throws `invalid_request` for an unknown one. */
export function openStream(
  sql: SqlStorage,
  { cursor, previews }: StreamRequest,
  session: { subscribers: Set<Subscriber>; gone(): boolean },
): ReadableStream<Uint8Array> {
  const after = cursor === undefined ? lastSeq(sql) : seqOfCursor(sql, cursor);
  if (after === undefined) {
    throw new MemdirError(
      "invalid_request",
      `Last-Event-ID or after: this session has no event "${cursor?.slice(0, 60)}"; its newest is ${lastSeq(sql)}. Use a seq or an event id of this session, or 0 for all events`,
    );
  }
  return eventStream(
    {
      read: (query) => (session.gone() ? NOTHING : readEventBatch(sql, query)),
      subscribe(subscriber) {
        session.subscribers.add(subscriber);
        return () => session.subscribers.delete(subscriber);
      },
    },
    { after, previews },
  );
}
