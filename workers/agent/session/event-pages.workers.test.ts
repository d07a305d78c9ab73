// Pages and streams of a log whose events are large.

import { env, runInDurableObject } from "cloudflare:test";
import { beforeAll, expect, test } from "vitest";
import { readPageCursor } from "../../../src/platform/http/edge.ts";
import { newId } from "../../../src/platform/ids.ts";
import { EVENT_PAGE_BYTES, EVENT_PAGE_DEFAULT } from "../../../src/shared/limits/http.ts";
import { byteLength } from "../../../src/shared/text/bytes.ts";
import type { EventQuery } from "../rows/events.ts";
import { appendEvent, eventsById, lastSeq } from "../rows/events.ts";
import { type EventPage, pageOf } from "../testing/session-object-fixture.ts";
import { createSchema } from "./schema.ts";
import { openPage, openStream } from "./session-reads.ts";

const MESSAGES = 40;
const LAST = `\nid: ${2 * MESSAGES}\n`;
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

const here = { gone: () => false };

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
  inside(async (sql) => {
    const limit = query.limit ?? EVENT_PAGE_DEFAULT;
    const seen: number[] = [];
    let cursor: number | undefined;
    do {
      const counted = countBytes(sql);
      const from = query.order === "desc" ? { before: cursor } : { after: cursor };
      const stream = openPage(counted.sql, { ...query, limit, ...from }, here);
      const { text, most } = await readAll(stream, counted);
      const { data, next_page }: EventPage = JSON.parse(text);
      expect(data.length).toBeGreaterThan(0);
      expect(byteLength(text)).toBeLessThanOrEqual(EVENT_PAGE_BYTES);
      // What does not fit is not loaded either; and only what is sent next is loaded at a time.
      expect(counted.read()).toBeLessThanOrEqual(EVENT_PAGE_BYTES);
      expect(most).toBeLessThan(2_000_000);
      seen.push(...data.map(({ seq }) => seq));
      cursor = next_page === null ? undefined : cursorOf(next_page);
    } while (cursor !== undefined);
    expect(seen).toEqual(expected);
  }),
);

test("a page is what it was when it was asked for; it fails where its log goes meanwhile", () =>
  inside(async (sql) => {
    let gone = false;
    const query = { after: 76, limit: 100 };
    const [whole, cut] = [1, 2].map(() => openPage(sql, query, { gone: () => gone }));
    if (!whole || !cut) throw new Error("There are two pages");
    appendEvent(sql, { type: "session.status_running", turn_id: newId("sevt") }, 81_000);
    expect((await pageOf(whole)).data.map(({ seq }) => seq)).toEqual(range(77, 80));
    gone = true;
    await expect(pageOf(cut)).rejects.toThrow("The log was cleared while a page of it was sent");
    sql.exec("DELETE FROM events WHERE seq = 81");
  }));

test("GROW-03: a stream from the start brings all of them, a few megabytes at a time", () =>
  inside(async (sql) => {
    const counted = countBytes(sql);
    const stream = openStream(
      counted.sql,
      { cursor: "0", previews: [] },
      { subscribers: new Set(), gone: () => false },
    );
    const { text, most } = await readAll(stream, counted, (text) =>
      text.slice(-1000).includes(LAST),
    );
    expect(seqsIn(text)).toEqual(range(1, 2 * MESSAGES));
    // Read ahead of the client: one buffer and one event.
    expect(most).toBeLessThan(2_000_000);
    expect(counted.largest()).toBeLessThanOrEqual(EVENT_PAGE_BYTES);
  }));

test("a page that ends with the log says so, though it is as large as a page may be", () =>
  inside(async (sql) => {
    const all = { after: lastSeq(sql) - 7, limit: 100 };
    const page = (limit: number) => pageOf(openPage(sql, { ...all, limit }, here));
    expect(await page(100)).toMatchObject({ data: { length: 7 }, next_page: null });
    expect(await page(7)).toMatchObject({ data: { length: 7 }, next_page: null });
    expect(cursorOf((await page(6)).next_page ?? "")).toBe(lastSeq(sql) - 1);
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

/** Reads a stream to its end, or as far as it is enough; `most` is what was loaded ahead of it. */
async function readAll(
  stream: ReadableStream<Uint8Array>,
  counted: { read(): number },
  enough: (tail: string) => boolean = () => false,
) {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  const pieces: string[] = [];
  let [bytes, most, tail] = [0, 0, ""];
  while (!enough(tail)) {
    const { value, done } = await reader.read();
    if (done) break;
    bytes += value.byteLength;
    const piece = decoder.decode(value, { stream: true });
    pieces.push(piece);
    tail = (tail + piece).slice(-1000);
    most = Math.max(most, counted.read() - bytes);
  }
  await reader.cancel();
  return { text: pieces.join(""), most };
}

function seqsIn(text: string): number[] {
  return [...text.matchAll(/^id: (\d+)$/gmu)].map(([, seq]) => Number(seq));
}

function cursorOf(page: string): number | undefined {
  return readPageCursor(page, (value) => (Array.isArray(value) ? Number(value[1]) : undefined));
}

/** The same rows, with the bytes of content that statements have read: in all, and the largest of them. */
function countBytes(sql: SqlStorage) {
  let [sum, largest] = [0, 0];
  const exec = (query: string, ...values: unknown[]) => {
    const cursor = sql.exec(query, ...values);
    const toArray = () => {
      const rows = cursor.toArray();
      const values = rows.flatMap((row) => Object.values(row));
      const sizes = values.map((value) => (value instanceof ArrayBuffer ? value.byteLength : 0));
      const bytes = sizes.reduce((all, size) => all + size, 0);
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
