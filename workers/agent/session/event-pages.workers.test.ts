// Pages and streams of a log whose events are large.

import { env, runInDurableObject } from "cloudflare:test";
import { beforeAll, expect, test } from "vitest";
import { newId } from "../../../src/platform/ids.ts";
import { EVENT_PAGE_BYTES, EVENT_PAGE_DEFAULT } from "../../../src/shared/limits/http.ts";
import { byteLength } from "../../../src/shared/text/bytes.ts";
import type { EventQuery } from "../rows/events.ts";
import { appendEvent, eventsById, lastSeq } from "../rows/events.ts";
import { createSchema } from "./schema.ts";
import type { EventPage } from "./session-reads.ts";
import { eventPage, openStream } from "./session-reads.ts";

const MESSAGES = 40;
const id = env.SESSION.newUniqueId();

beforeAll(() =>
  inside((sql) => {
    createSchema(sql);
    // Two bytes a character: what counts is what is sent.
    const text = "\u00fc".repeat(475_000);
    for (let n = 1; n <= MESSAGES; n += 1) {
      const message = { type: "user.message" as const, content: [{ type: "text" as const, text }] };
      appendEvent(sql, message, n * 1000);
      appendEvent(sql, { type: "session.status_running", turn_id: newId("sevt") }, n * 1000);
    }
  }),
);

test.each<[string, Partial<EventQuery>, number[]]>([
  ["by default", {}, range(1, 80)],
  ["with 1,000", { limit: 1000 }, range(1, 80)],
  ["one by one", { limit: 1 }, range(1, 80)],
  ["the newest first", { order: "desc" }, range(1, 80).reverse()],
  ["of one type", { types: ["user.message"] }, range(1, 80).filter((n) => n % 2 === 1)],
  [
    "of one type and some time, the newest first",
    { types: ["user.message"], order: "desc", from: 5000, to: 30_000 },
    range(9, 60)
      .filter((n) => n % 2 === 1)
      .reverse(),
  ],
])("GROW-03: every page of large events answers and goes on, %s", (_how, query, expected) =>
  inside((sql) => {
    const limit = query.limit ?? EVENT_PAGE_DEFAULT;
    const seen: number[] = [];
    let cursor: number | undefined;
    do {
      const counted = countBytes(sql);
      const from = query.order === "desc" ? { before: cursor } : { after: cursor };
      const page: EventPage = eventPage(counted.sql, { ...query, limit, ...from });
      expect(page.data.length).toBeGreaterThan(0);
      expect(byteLength(page.data.join(""))).toBeLessThanOrEqual(EVENT_PAGE_BYTES);
      // What does not fit is not loaded either.
      expect(counted.read()).toBeLessThanOrEqual(EVENT_PAGE_BYTES);
      seen.push(...page.data.map((json) => Number(JSON.parse(json).seq)));
      cursor = page.next;
    } while (cursor !== undefined);
    expect(seen).toEqual(expected);
  }),
);

test("GROW-03: a stream from the start brings all of them, a few megabytes at a time", () =>
  inside(async (sql) => {
    const counted = countBytes(sql);
    const stream = openStream(
      counted.sql,
      { cursor: "0", previews: [] },
      { subscribers: new Set(), gone: () => false },
    );
    const reader = stream.getReader();
    const decoder = new TextDecoder();
    const seen: number[] = [];
    let [bytes, most] = [0, 0];
    while (seen.length < 2 * MESSAGES) {
      const { value, done } = await reader.read();
      if (done) break;
      bytes += value.byteLength;
      const text = decoder.decode(value, { stream: true });
      seen.push(...[...text.matchAll(/^id: (\d+)$/gmu)].map(([, seq]) => Number(seq)));
      most = Math.max(most, counted.read() - bytes);
    }
    expect(seen).toEqual(range(1, 2 * MESSAGES));
    // Read ahead of the client: one buffer and one event.
    expect(most).toBeLessThan(2_000_000);
    expect(counted.largest()).toBeLessThanOrEqual(EVENT_PAGE_BYTES);
    await reader.cancel();
  }));

test("a page that ends with the log says so, though it is as large as a page may be", () =>
  inside((sql) => {
    const all = { after: lastSeq(sql) - 7, limit: 100 };
    const page = eventPage(sql, all);
    expect([page.data.length, page.next]).toEqual([7, undefined]);
    expect(eventPage(sql, { ...all, limit: 7 }).next).toBeUndefined();
    expect(eventPage(sql, { ...all, limit: 6 }).next).toBe(lastSeq(sql) - 1);
  }));

test("events that are asked for by their ids come however large they are together", () =>
  inside((sql) => {
    const rows = sql.exec<{ id: string }>("SELECT id FROM events WHERE seq <= 13").toArray();
    const found = eventsById(
      sql,
      rows.map((row) => row.id),
    );
    expect(found.map((json) => JSON.parse(json).seq)).toEqual(range(1, 13));
  }));

function inside(work: (sql: SqlStorage) => void | Promise<void>): Promise<void> {
  return runInDurableObject(env.SESSION.get(id), (_instance, { storage }) => work(storage.sql));
}

/** The same rows, with the bytes of text that statements have read: in all, and the largest of them. */
function countBytes(sql: SqlStorage) {
  let [sum, largest] = [0, 0];
  const exec = (query: string, ...values: unknown[]) => {
    const cursor = sql.exec(query, ...values);
    const toArray = () => {
      const rows = cursor.toArray();
      const texts = rows.flatMap((row) => Object.values(row));
      const bytes = byteLength(texts.filter((value) => typeof value === "string").join(""));
      sum += bytes;
      largest = Math.max(largest, bytes);
      return rows;
    };
    return { toArray, one: () => cursor.one() };
  };
  const counted = { exec } as unknown as SqlStorage;
  return { sql: counted, read: () => sum, largest: () => largest };
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, n) => from + n);
}
