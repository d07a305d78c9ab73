// The event log of a session: append only, numbered from 1 without a gap. A row never changes, so
// that whoever reads it live, later or twice sees the same.

import { isId, newId } from "../../../src/platform/ids.ts";
import { conditions } from "../../../src/platform/sql.ts";
import { refuseLarge } from "../../../src/platform/threads/row-size.ts";
import type { EventDraft } from "../../../src/shared/events/event.ts";
import { EVENT_PAGE_BYTES } from "../../../src/shared/limits/http.ts";

/** An event as clients get it, and its JSON as it is sent. */
export interface StoredEvent {
  seq: number;
  id: string;
  type: string;
  json: string;
}

/** Appends an event. Within a transaction: readers see it once that is committed. */
export function appendEvent(sql: SqlStorage, draft: EventDraft, now: number): StoredEvent {
  const { type, id = newId("sevt"), ...rest } = draft;
  const body = { id, type, processed_at: new Date(now).toISOString(), ...rest };
  const text = JSON.stringify(body);
  refuseLarge(text, type);
  const { seq } = sql
    .exec<{ seq: number }>(
      "INSERT INTO events (id, type, at, body) VALUES (?, ?, ?, ?) RETURNING seq",
      id,
      type,
      now,
      text,
    )
    .one();
  return { seq, id, type, json: withSeq(seq, text) };
}

export interface EventQuery {
  after?: number | undefined;
  before?: number | undefined;
  order?: "asc" | "desc";
  limit: number;
  types?: string[];
  /** Bounds in milliseconds, all inclusive. */
  from?: number | undefined;
  to?: number | undefined;
  /** Bytes of JSON after which no other event is begun. */
  enough?: number | undefined;
}

/** Events that match, in order of their numbers, and whether there are more of them. */
export interface EventBatch {
  events: StoredEvent[];
  more: boolean;
}

/**
 * Up to `limit` events, at most `EVENT_PAGE_BYTES` of JSON, but at least one. The sizes are read
 * first: content that does not fit is never loaded, and no cursor stays open, which would lock the
 * table and hold back the journal.
 */
export function readEventBatch(sql: SqlStorage, query: EventQuery): EventBatch {
  const { where, values } = conditionsOf(query);
  const order = query.order === "desc" ? "DESC" : "ASC";
  const sizes = sql
    .exec<{ bytes: number }>(
      `SELECT octet_length(body) AS bytes FROM events WHERE ${where} ORDER BY seq ${order} LIMIT ?`,
      ...values,
      query.limit + 1,
    )
    .toArray();
  const count = fitting(sizes, query);
  if (count === 0) return { events: [], more: false };
  const events = sql
    .exec<{ seq: number; id: string; type: string; body: string }>(
      `SELECT seq, id, type, body FROM events WHERE ${where} ORDER BY seq ${order} LIMIT ?`,
      ...values,
      count,
    )
    .toArray()
    .map(({ seq, id, type, body }) => ({
      seq,
      id,
      type,
      json: withSeq(seq, whole(body, id, type)),
    }));
  return { events, more: count < sizes.length };
}

/** The events of a batch, where nobody asks for the rest. */
export function readEvents(sql: SqlStorage, query: EventQuery): StoredEvent[] {
  return readEventBatch(sql, query).events;
}

/** Bytes that `withSeq` adds at most. */
const SEQ_BYTES = `"seq":${Number.MAX_SAFE_INTEGER},`.length;

/** How many of the next rows make a batch. */
function fitting(sizes: readonly { bytes: number }[], { limit, enough }: EventQuery): number {
  let sum = 0;
  let count = 0;
  for (const { bytes } of sizes.slice(0, limit)) {
    if (count > 0 && sum >= (enough ?? EVENT_PAGE_BYTES)) break;
    sum += bytes + SEQ_BYTES;
    if (count > 0 && sum > EVENT_PAGE_BYTES) break;
    count += 1;
  }
  return count;
}

function conditionsOf(query: EventQuery) {
  const types = query.types && query.types.length > 0 ? JSON.stringify(query.types) : undefined;
  return conditions([
    ["seq > ?", query.after],
    ["seq < ?", query.before],
    ["at >= ?", query.from],
    ["at <= ?", query.to],
    ["type IN (SELECT value FROM json_each(?))", types],
  ]);
}

/** The JSON of these events, in the order asked for, without those that do not exist. */
export function eventsById(sql: SqlStorage, ids: readonly string[]): string[] {
  return ids.flatMap((id) => {
    const seq = seqOfCursor(sql, id);
    if (seq === undefined) return [];
    return readEvents(sql, { after: seq - 1, limit: 1 }).map((event) => event.json);
  });
}

/** The number of the newest event, 0 where there is none. */
export function lastSeq(sql: SqlStorage): number {
  return sql.exec<{ seq: number }>("SELECT ifnull(max(seq), 0) AS seq FROM events").one().seq;
}

/**
 * The number of the event that a client has read up to. The cursor is that number or the event's id,
 * as in `Last-Event-ID` or `?after=`. Undefined where this session has no such event.
 */
export function seqOfCursor(sql: SqlStorage, cursor: string): number | undefined {
  if (/^\d{1,15}$/.test(cursor)) {
    const seq = Number(cursor);
    return seq <= lastSeq(sql) ? seq : undefined;
  }
  if (!isId("sevt", cursor)) return undefined;
  const [row] = sql.exec<{ seq: number }>("SELECT seq FROM events WHERE id = ?", cursor).toArray();
  return row?.seq;
}

/** A row that was cut or overwritten becomes a placeholder; it must not spoil those beside it. */
function whole(body: string, id: string, type: string): string {
  if (body.startsWith("{") && body.endsWith("}")) return body;
  return JSON.stringify({ id, type, unreadable: true });
}

/** The stored text stays as it is; its number is put in front. */
function withSeq(seq: number, body: string): string {
  return `{"seq":${seq},${body.slice(1)}`;
}
