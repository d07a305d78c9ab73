// The event log of a session: append only, numbered from 1 without a gap. A row never changes, so
// that whoever reads it live, later or twice sees the same.

import { numberedId, numberOfId } from "../../../src/platform/ids.ts";
import { conditions } from "../../../src/platform/sql.ts";
import { defineMemory } from "../../../src/platform/state.ts";
import { refuseLarge } from "../../../src/platform/threads/row-size.ts";
import type { EventDraft } from "../../../src/shared/events/event.ts";
import { EVENT_BYTES_AS_THEY_ARE, EVENT_PAGE_BYTES } from "../../../src/shared/limits/http.ts";

/**
 * One of the tables of a session. A body has what its other columns do not say. An id tells where its row
 * is (`eventId`), so it has no index: chance would make each event write one more page of it.
 */
export const EVENTS_TABLE = `CREATE TABLE IF NOT EXISTS events (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL, type TEXT NOT NULL, at INTEGER NOT NULL,
    body TEXT NOT NULL)`;

/** What the transaction that is open has appended. */
const appended = defineMemory<StoredEvent[]>();

/** Events that may be stored between the announcement of one and itself. */
const ANNOUNCED_AHEAD = 10_000;

/** An event as clients get it, and its JSON as it is sent. */
export interface StoredEvent {
  seq: number;
  id: string;
  type: string;
  json: string;
}

/** Appends an event. Within a transaction: readers see it once that is committed. */
export function appendEvent(sql: SqlStorage, draft: EventDraft, now: number): StoredEvent {
  const seq = lastSeq(sql) + 1;
  const { type, id = numberedId("sevt", seq), ...rest } = draft;
  const body = JSON.stringify(rest);
  refuseLarge(body, type);
  sql.exec(
    "INSERT INTO events (seq, id, type, at, body) VALUES (?, ?, ?, ?, ?)",
    seq,
    id,
    type,
    now,
    body,
  );
  const head = headOf({ seq, id, type, at: now }, body.length);
  const event = { seq, id, type, json: head + body.slice(1) };
  appended.set(sql, [...(appended.get(sql) ?? []), event]);
  return event;
}

/** What was appended since the last call, in its order: to be asked after each transaction. */
export function takeAppended(sql: SqlStorage): StoredEvent[] {
  const events = appended.get(sql) ?? [];
  appended.set(sql, undefined);
  return events;
}

/** The id of an event that is announced now and stored later. */
export function announcedId(sql: SqlStorage): string {
  return numberedId("sevt", lastSeq(sql) + 1);
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

/** An event as it is sent: of a large one most of the JSON stays the bytes that lie in its row. */
export interface SentEvent {
  seq: number;
  id: string;
  type: string;
  /** The whole JSON, or where it begins. */
  head: string;
  rest?: Uint8Array;
}

/** Events that match, in order of their numbers, and whether there are more of them. */
export interface EventBatch {
  events: SentEvent[];
  more: boolean;
}

/** How many events a batch has and the bytes of each at most, and whether there are more of them. */
export interface EventSizes {
  sizes: { seq: number; bytes: number }[];
  more: boolean;
}

/**
 * Up to `limit` events, at most `EVENT_PAGE_BYTES` of JSON, but at least one. The sizes are read
 * first: content that does not fit is never loaded, and no cursor stays open, which would lock the
 * table and hold back the journal.
 */
export function readEventBatch(sql: SqlStorage, query: EventQuery): EventBatch {
  const { sizes, more } = eventSizes(sql, query);
  return { events: readSent(sql, query, sizes.length), more };
}

/** What `readEventBatch` would read. */
export function eventSizes(sql: SqlStorage, query: EventQuery): EventSizes {
  const { where, values, order } = conditionsOf(query);
  const sizes = sql
    .exec<{ seq: number; bytes: number }>(
      `SELECT seq, octet_length(body) + ${HEAD_BYTES} AS bytes FROM events WHERE ${where}
       ORDER BY seq ${order} LIMIT ?`,
      ...values,
      query.limit + 1,
    )
    .toArray();
  const count = fitting(sizes, query);
  return { sizes: sizes.slice(0, count), more: count < sizes.length };
}

/** The first `count` events that match, whatever their size. */
export function readSent(sql: SqlStorage, query: EventQuery, count: number): SentEvent[] {
  if (count === 0) return [];
  const { where, values, order } = conditionsOf(query);
  return sql
    .exec<Row & { body: string | ArrayBuffer }>(
      `SELECT seq, id, type, at,
         CASE WHEN octet_length(body) < ${EVENT_BYTES_AS_THEY_ARE} THEN body
           ELSE CAST(body AS BLOB) END AS body
       FROM events WHERE ${where} ORDER BY seq ${order} LIMIT ?`,
      ...values,
      count,
    )
    .toArray()
    .map(sentOf);
}

/** The events of a batch as texts, where nobody asks for the rest. */
export function readEvents(sql: SqlStorage, query: EventQuery): StoredEvent[] {
  return readEventBatch(sql, query).events.map(({ seq, id, type, head, rest }) => ({
    seq,
    id,
    type,
    json: head + (rest ? new TextDecoder().decode(rest) : ""),
  }));
}

/** Bytes of an event's head at most: its names, and values of the longest type. */
const HEAD_BYTES = 200;

/** How many of the next rows make a batch. */
function fitting(sizes: readonly { bytes: number }[], { limit, enough }: EventQuery): number {
  let sum = 0;
  let count = 0;
  for (const { bytes } of sizes.slice(0, limit)) {
    if (count > 0 && sum >= (enough ?? EVENT_PAGE_BYTES)) break;
    sum += bytes;
    if (count > 0 && sum > EVENT_PAGE_BYTES) break;
    count += 1;
  }
  return count;
}

function conditionsOf(query: EventQuery) {
  const types = query.types && query.types.length > 0 ? JSON.stringify(query.types) : undefined;
  const order = query.order === "desc" ? "DESC" : "ASC";
  const found = conditions([
    ["seq > ?", query.after],
    ["seq < ?", query.before],
    ["at >= ?", query.from],
    ["at <= ?", query.to],
    ["type IN (SELECT value FROM json_each(?))", types],
  ]);
  return { ...found, order };
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
  const from = numberOfId("sevt", cursor);
  if (from === undefined) return undefined;
  const [row] = sql
    .exec<{ seq: number }>(
      "SELECT seq FROM events WHERE seq >= ? AND seq < ? AND id = ? LIMIT 1",
      from,
      from + ANNOUNCED_AHEAD,
      cursor,
    )
    .toArray();
  return row?.seq;
}

type Row = { seq: number; id: string; type: string; at: number };

/** A row that was cut or overwritten: its placeholder must not spoil those beside it. */
const UNREADABLE = '{"unreadable":true}';
/** "{" and "}". */
const [OPEN, CLOSE] = [0x7b, 0x7d];

/** The stored text stays as it is: what the other columns say takes the place of its first brace. */
function sentOf({ body, ...row }: Row & { body: string | ArrayBuffer }): SentEvent {
  const { seq, id, type } = row;
  const bytes = typeof body === "string" ? undefined : new Uint8Array(body);
  if (bytes && bytes[0] === OPEN && bytes.at(-1) === CLOSE) {
    return { seq, id, type, head: headOf(row, bytes.length), rest: bytes.subarray(1) };
  }
  const whole = typeof body === "string" && body.startsWith("{") && body.endsWith("}");
  const text = whole ? body : UNREADABLE;
  return { seq, id, type, head: headOf(row, text.length) + text.slice(1) };
}

/** What stands before the rest of a body; one of two bytes has nothing in its braces. */
function headOf({ seq, id, type, at }: Row, bodyLength: number): string {
  const comma = bodyLength === 2 ? "" : ",";
  return `{"seq":${seq},"id":${JSON.stringify(id)},"type":${JSON.stringify(type)},"processed_at":"${new Date(at).toISOString()}"${comma}`;
}
