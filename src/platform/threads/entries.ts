// The transcript of a thread: one row a message, with its origin.

import * as z from "zod";
import type { Draft, Entry } from "../../shared/thread/entry.ts";
import { MODEL, REMINDER, textDraft } from "../../shared/thread/entry.ts";
import { log } from "../log.ts";
import { plainInput } from "./calls.ts";
import { refuseLarge } from "./row-size.ts";
import type { Thread } from "./thread.ts";

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
const originSchema = z.discriminatedUnion("type", [
  z.object({ type: z.enum(["user", "model", "reminder", "task", "summary", "interrupt"]) }),
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

/** Appends a message to a turn. Within a transaction. */
export function appendEntry({ sql, id }: Thread, turn: number, { origin, message }: Draft): void {
  const body = JSON.stringify(message);
  refuseLarge(body, "A message");
  const { type, ...details } = origin;
  sql.exec(
    "INSERT INTO messages (thread, turn, origin, details, body) VALUES (?, ?, ?, ?, ?)",
    id,
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
export function readEntries({ sql, id }: Thread, { after = 0, upTo }: Range = {}): Entry[] {
  const rows = sql.exec<Row>(
    `SELECT n, turn, origin, details, body FROM messages
     WHERE thread = ? AND n > ? AND n <= ? ORDER BY n`,
    id,
    after,
    upTo ?? Number.MAX_SAFE_INTEGER,
  );
  return [...rows].map(entryOf);
}

/** The number of the last entry of a turn or of those before it; 0 if there is none. */
export function lastEntryOf({ sql, id }: Thread, turn: number): number {
  const [row] = sql
    .exec<{ n: number }>(
      "SELECT n FROM messages WHERE thread = ? AND turn <= ? ORDER BY turn DESC, n DESC LIMIT 1",
      id,
      turn,
    )
    .toArray();
  return row?.n ?? 0;
}

/** The number of the first entry of a turn or of those after it; 0 if there is none. */
export function firstEntryOf({ sql, id }: Thread, turn: number): number {
  const [row] = sql
    .exec<{ n: number }>(
      "SELECT n FROM messages WHERE thread = ? AND turn >= ? ORDER BY turn, n LIMIT 1",
      id,
      turn,
    )
    .toArray();
  return row?.n ?? 0;
}

/** The number of the newest entry; 0 if there is none. */
export function lastEntry({ sql, id }: Thread): number {
  return sql
    .exec<{ n: number }>("SELECT ifnull(max(n), 0) AS n FROM messages WHERE thread = ?", id)
    .one().n;
}

/** How many messages the model sees of these turns: neighbours of one role count as one. */
export function countMessages({ sql, id }: Thread, turns: { first: number; last: number }): number {
  const rows = sql.exec<{ origin: string }>(
    "SELECT origin FROM messages WHERE thread = ? AND turn BETWEEN ? AND ? ORDER BY n",
    id,
    turns.first,
    turns.last,
  );
  const byModel = [...rows].map(({ origin }) => origin === "model");
  return byModel.filter((own, at) => own !== byModel[at - 1]).length;
}

/** Parses an entry that was stored within another row; undefined if it is not valid. */
export function parseEntry(value: unknown): Entry | undefined {
  return entrySchema.safeParse(value).data;
}

function entryOf({ n, turn, origin, details, body }: Row): Entry {
  const message = parsed(messageSchema, body);
  const from = parsed(originSchema, details ?? "{}", { type: origin });
  if (message && from) return { n, turn, origin: from, message };
  log("thread.bad_message_row", { n });
  return { n, turn, ...placeholder(origin) };
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
