// The transcript of a thread: one row a message, with its origin.

import * as z from "zod";
import { byteLength } from "../../shared/text/bytes.ts";
import type { Draft, Entry } from "../../shared/thread/entry.ts";
import { MODEL, REMINDER, textDraft } from "../../shared/thread/entry.ts";
import type { Message } from "../../shared/thread/messages.ts";
import { log } from "../log.ts";
import { plainInput } from "./calls.ts";
import { keepRead } from "./read-files.ts";
import { refuseLarge } from "./row-size.ts";
import type { Thread } from "./thread.ts";
import { rowsOf } from "./thread.ts";

const text = z.object({ type: z.literal("text"), text: z.string() });
const user = z.object({
  role: z.literal("user"),
  content: z.array(
    z.discriminatedUnion("type", [
      text,
      z.object({
        type: z.literal("tool_result"),
        tool_use_id: z.string(),
        content: z.string(),
        is_error: z.literal(true).exactOptional(),
      }),
    ]),
  ),
});
const assistant = z.object({
  role: z.literal("assistant"),
  content: z.array(
    z.discriminatedUnion("type", [
      text,
      z.object({ type: z.literal("thinking"), thinking: z.string(), signature: z.string() }),
      z.object({ type: z.literal("redacted_thinking"), data: z.string() }),
      z.object({
        type: z.literal("tool_use"),
        id: z.string(),
        name: z.string(),
        input: plainInput,
      }),
    ]),
  ),
});
const messageSchema = z.discriminatedUnion("role", [user, assistant]);
const day = z.object({ date: z.string(), zone: z.string() });
const originSchema = z.discriminatedUnion("type", [
  z.object({ type: z.enum(["user", "model", "reminder", "task", "interrupt"]) }),
  day.extend({ type: z.literal("day") }),
  z.object({ type: z.literal("summary"), day: day.optional() }),
  z.object({
    type: z.literal("results"),
    stored: z.array(z.object({ callId: z.string(), path: z.string() })),
  }),
  z.object({
    type: z.literal("recall"),
    memories: z.array(z.object({ path: z.string(), start: z.number(), end: z.number() })),
  }),
]);
/** An entry within another row, such as the head of a view. */
const entrySchema = z.object({
  n: z.number(),
  turn: z.number(),
  origin: originSchema,
  message: messageSchema,
});

type Row = { n: number; turn: number; origin: string; details: string | null; body: string };

/** Appends a message to a turn; turns come in their order. Within a transaction. */
export function appendEntry(thread: Thread, turn: number, draft: Draft): void {
  const { opening } = thread;
  if (opening && lastEntry(thread) === 0) {
    insert(thread, turn, opening.draft);
    for (const [path, etag] of opening.known) keepRead(thread, path, etag);
  }
  insert(thread, turn, draft);
}

function insert(thread: Thread, turn: number, { origin, message, said }: Draft): void {
  const body = said === undefined ? JSON.stringify(message) : "";
  refuseLarge(body, "A message");
  const { type, ...rest } = origin;
  const details = said === undefined ? rest : { said };
  thread.sql.exec(
    "INSERT INTO messages (n, turn, origin, details, body) VALUES (?, ?, ?, ?, ?)",
    rowsOf(thread).before + lastEntry(thread) + 1,
    turn,
    type,
    Object.keys(details).length === 0 ? null : JSON.stringify(details),
    body,
  );
}

/** Which entries are read, by their numbers; all by default. */
interface Range {
  after?: number | undefined;
  upTo?: number | undefined;
}

/** Entries in their order. A row that cannot be parsed becomes a placeholder. */
export function readEntries(thread: Thread, { after = 0, upTo }: Range = {}): Entry[] {
  const { before, last } = rowsOf(thread);
  const rows = thread.sql.exec<Row>(
    `SELECT n, turn, origin, details, body FROM messages WHERE n > ? AND n <= ? ORDER BY n`,
    before + after,
    upTo === undefined ? last : before + upTo,
  );
  return rows.toArray().map((row) => entryOf(thread, { ...row, n: row.n - before }));
}

/** The number of the last entry of a turn or of those before it; 0 if there is none. */
export function lastEntryOf(thread: Thread, turn: number): number {
  return firstFrom(thread, turn + 1) - 1;
}

/** The number of the first entry of a turn or of those after it; 0 if there is none. */
export function firstEntryOf(thread: Thread, turn: number): number {
  const first = firstFrom(thread, turn);
  return first > lastEntry(thread) ? 0 : first;
}

/**
 * The number of the first entry that belongs to this turn or a later one, or would. Entries have no gaps
 * and their turns only grow, so it is searched for, from the end: most ask for one of the last turns.
 */
function firstFrom(thread: Thread, turn: number): number {
  const { before } = rowsOf(thread);
  const isFrom = (n: number) =>
    thread.sql.exec<{ turn: number }>("SELECT turn FROM messages WHERE n = ?", before + n).one()
      .turn >= turn;
  let high = lastEntry(thread) + 1;
  let low = 0;
  for (let step = 1; high - step > low; step *= 2) {
    if (isFrom(high - step)) high -= step;
    else low = high - step;
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (isFrom(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** The number of the newest entry; 0 if there is none. */
export function lastEntry(thread: Thread): number {
  const { before, last } = rowsOf(thread);
  const { n } = thread.sql
    .exec<{ n: number | null }>(
      "SELECT max(n) AS n FROM messages WHERE n > ? AND n <= ?",
      before,
      last,
    )
    .one();
  return n === null ? 0 : n - before;
}

/** The entries of these turns: how many messages the model sees of them, and their bytes. */
export function measureTurns(
  thread: Thread,
  turns: { first: number; last: number },
): { entries: number; messages: number; bytes: number } {
  const { before } = rowsOf(thread);
  const rows = thread.sql
    .exec<{ origin: string; details: string | null; bytes: number }>(
      `SELECT origin, details, octet_length(body) AS bytes FROM messages
       WHERE n >= ? AND n < ? ORDER BY n`,
      before + firstFrom(thread, turns.first),
      before + firstFrom(thread, turns.last + 1),
    )
    .toArray();
  const byModel = rows.map(({ origin }) => origin === "model");
  return {
    entries: rows.length,
    // Neighbours of one role are one message.
    messages: byModel.filter((own, at) => own !== byModel[at - 1]).length,
    bytes: rows.reduce((sum, row) => {
      const words = row.bytes === 0 ? wordsOf(thread, row.details) : undefined;
      return sum + (words ? byteLength(JSON.stringify(words)) : row.bytes);
    }, 0),
  };
}

/** Parses an entry that was stored within another row; undefined if it is not valid. */
export function parseEntry(value: unknown): Entry | undefined {
  return entrySchema.safeParse(value).data;
}

function entryOf(thread: Thread, { n, turn, origin, details, body }: Row): Entry {
  const message = body === "" ? wordsOf(thread, details) : parsed(messageSchema, body);
  const from = parsed(originSchema, details ?? "{}", { type: origin });
  if (message && from) return { n, turn, origin: from, message };
  log("thread.bad_message_row", { n });
  return { n, turn, ...placeholder(origin) };
}

const saidSchema = z.object({ said: z.number() });

/** The message of a row that names an event. */
function wordsOf({ said }: Thread, details: string | null): Message | undefined {
  const named = parsed(saidSchema, details ?? "{}");
  if (!named || !said) return undefined;
  try {
    return { role: "user", content: said(named.said) };
  } catch {
    return undefined;
  }
}

/** Stored JSON; undefined if it is not valid. */
function parsed<T>(schema: z.ZodType<T>, body: string, more: object = {}): T | undefined {
  try {
    return schema.safeParse({ ...JSON.parse(body), ...more }).data;
  } catch {
    return undefined;
  }
}

function placeholder(origin: string): Draft {
  const text = "[A message here could not be read.]";
  if (origin !== "model") return textDraft(REMINDER, text);
  return { origin: MODEL, message: { role: "assistant", content: [{ type: "text", text }] } };
}
