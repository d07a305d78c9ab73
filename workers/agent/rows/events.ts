// The event log of a session: append only, numbered from 1 without a gap. A row never changes, so
// that whoever reads it live, later or twice sees the same.

import { numberedId, numberOfId } from "../../../src/platform/ids.ts";
import { conditions } from "../../../src/platform/sql.ts";
import { defineMemory } from "../../../src/platform/state.ts";
import { refuseLarge } from "../../../src/platform/threads/row-size.ts";
import type { EventDraft } from "../../../src/shared/events/event.ts";
import { EVENT_PAGE_BYTES } from "../../../src/shared/limits/http.ts";

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
  const event = { seq, id, type, json: jsonOf({ seq, id, type, at: now, body }) };
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
    .exec<Row>(
      `SELECT seq, id, type, at, body FROM events WHERE ${where} ORDER BY seq ${order} LIMIT ?`,
      ...values,
      count,
    )
    .toArray()
    .map((row) => ({ seq: row.seq, id: row.id, type: row.type, json: jsonOf(row) }));
  return { events, more: count < sizes.length };
}

/** The events of a batch, where nobody asks for the rest. */
export function readEvents(sql: SqlStorage, query: EventQuery): StoredEvent[] {
  return readEventBatch(sql, query).events;
}

/** Bytes that `jsonOf` adds at most: its names, and values of the longest type. */
const ADDED_BYTES = 200;

/** How many of the next rows make a batch. */
function fitting(sizes: readonly { bytes: number }[], { limit, enough }: EventQuery): number {
  let sum = 0;
  let count = 0;
  for (const { bytes } of sizes.slice(0, limit)) {
    if (count > 0 && sum >= (enough ?? EVENT_PAGE_BYTES)) break;
    sum += bytes + ADDED_BYTES;
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

type Row = { seq: number; id: string; type: string; at: number; body: string };

/** The stored text stays as it is; what the other columns say is put in front. */
function jsonOf({ seq, id, type, at, body }: Row): string {
  const head = `{"seq":${seq},"id":${JSON.stringify(id)},"type":${JSON.stringify(type)},"processed_at":"${new Date(at).toISOString()}"`;
  // A row that was cut or overwritten becomes a placeholder; it must not spoil those beside it.
  const rest = body.startsWith("{") && body.endsWith("}") ? body : '{"unreadable":true}';
  return rest === "{}" ? `${head}}` : `${head},${rest.slice(1)}`;
}
