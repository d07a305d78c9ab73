// What the model sees of the transcript. The transcript itself stays whole: a compaction or a
// shrinking is a row here, from which on the conversation is shown in another way. Between two rows
// each request begins with the bytes of the one before.

import * as z from "zod";
import { shrinkEach } from "../../shared/compaction/shrink.ts";
import type { Placed } from "../../shared/compaction/tail.ts";
import type { Message } from "../../shared/loop/messages.ts";
import { lastMessage, parseMessage, readRows, withWholePairs } from "./entries.ts";
import { refuseLarge } from "./row-size.ts";

/** One of the tables of a session. */
export const VIEWS_TABLE = `CREATE TABLE IF NOT EXISTS views (
    n INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, body TEXT NOT NULL)`;

const schema = z.object({
  /** Messages up to this number are left out; `head` stands in their place. */
  cut: z.number(),
  head: z.array(z.unknown()),
  /** Messages up to these numbers have markers for results, and no thinking. */
  results: z.number(),
  thinking: z.number(),
});

/** How the transcript is shown from some moment on. */
export interface View {
  cut: number;
  head: Message[];
  results: number;
  thinking: number;
}

export interface Viewed {
  head: Message[];
  /** What is behind the head, as the model sees it. */
  placed: Placed[];
}

const WHOLE: View = { cut: 0, head: [], results: 0, thinking: 0 };

/** Which part of a conversation is asked for; all of it where nothing is said. */
export interface Scope {
  /** As it was at the end of this turn. */
  upToTurn?: number;
  /** This turn and those behind it must be seen word for word. */
  fromTurn?: number;
}

/** The view that holds for the newest message, or held at the end of a turn. */
export function readViewRow(sql: SqlStorage, scope: Scope = {}): View {
  const { upToTurn = Number.MAX_SAFE_INTEGER, fromTurn } = scope;
  const before = "SELECT ifnull(max(n), 0) FROM messages WHERE turn <= ?";
  const rows = sql
    .exec<{ body: string }>(
      `SELECT body FROM views WHERE at <= (${before}) ORDER BY n DESC`,
      upToTurn,
    )
    .toArray()
    .map(({ body }) => viewOf(body));
  if (fromTurn === undefined) return rows[0] ?? WHOLE;
  const { n: first } = sql
    .exec<{ n: number }>("SELECT ifnull(min(n), 0) AS n FROM messages WHERE turn >= ?", fromTurn)
    .one();
  return rows.find(({ cut }) => cut < first) ?? WHOLE;
}

/** From here on the conversation is shown so. Within a transaction. */
export function writeView(sql: SqlStorage, view: View): void {
  const body = JSON.stringify(view);
  refuseLarge(body, "The head of a compacted conversation");
  sql.exec("INSERT INTO views (at, body) VALUES (?, ?)", lastMessage(sql), body);
}

/** The messages that the model sees, with their numbers. */
export function readViewed(sql: SqlStorage, scope: Scope = {}): Viewed {
  return show(readViewRow(sql, scope), readRows(sql, scope.upToTurn));
}

/** The messages as they are sent: always such that the API takes them. */
export function readMessages(sql: SqlStorage, scope: Scope = {}): Message[] {
  return sentMessages(readViewed(sql, scope));
}

/** A view's messages as they are sent. */
export function sentMessages({ head, placed }: Viewed): Message[] {
  return withWholePairs([...head, ...placed.map(({ message }) => message)]);
}

/** How these rows look in a view. */
export function show(view: View, rows: readonly Placed[]): Viewed {
  const placed = rows.filter(({ n }) => n > view.cut);
  const upTo = (last: number) => placed.filter(({ n }) => n <= last).length;
  const shrunk = shrinkEach(
    placed.map(({ message }) => message),
    { results: upTo(view.results), thinking: upTo(view.thinking) },
  );
  return {
    head: view.head,
    placed: placed.flatMap((each, at) => {
      const message = shrunk[at];
      return message ? [{ ...each, message }] : [];
    }),
  };
}

function viewOf(body: string): View {
  const { head, ...view } = schema.parse(JSON.parse(body));
  return { ...view, head: head.flatMap((each) => parseMessage(JSON.stringify(each)) ?? []) };
}
