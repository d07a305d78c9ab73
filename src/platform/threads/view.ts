// The views of a thread on disk. Each compaction or shrinking adds a row.

import * as z from "zod";
import type { Message } from "../../shared/thread/messages.ts";
import type { Shown, View } from "../../shared/thread/view.ts";
import { sentMessages, show, WHOLE } from "../../shared/thread/view.ts";
import { lastEntry, parseEntry, readEntries } from "./entries.ts";
import { refuseLarge } from "./row-size.ts";
import type { Thread } from "./thread.ts";

const schema = z.object({
  cut: z.number(),
  head: z.array(z.unknown()),
  results: z.number(),
  thinking: z.number(),
});

/** A part of a conversation; all of it by default. */
export interface Scope {
  /** As it was at the end of this turn. */
  upToTurn?: number | undefined;
  /** This turn and those after it must be shown unchanged. */
  fromTurn?: number | undefined;
}

/** The view at the newest entry, or at the end of a turn. */
export function readView({ sql, id }: Thread, scope: Scope = {}): View {
  const { upToTurn = Number.MAX_SAFE_INTEGER, fromTurn } = scope;
  const views = sql
    .exec<{ body: string }>(
      `SELECT body FROM views WHERE thread = ?1 AND at <= (
         SELECT ifnull(max(n), 0) FROM messages WHERE thread = ?1 AND turn <= ?2)
       ORDER BY n DESC`,
      id,
      upToTurn,
    )
    .toArray()
    .map(({ body }) => viewOf(body));
  if (fromTurn === undefined) return views[0] ?? WHOLE;
  const { n: first } = sql
    .exec<{ n: number }>(
      "SELECT ifnull(min(n), 0) AS n FROM messages WHERE thread = ? AND turn >= ?",
      id,
      fromTurn,
    )
    .one();
  return views.find(({ cut }) => cut < first) ?? WHOLE;
}

/** Adds a view, valid from the newest entry on. Within a transaction. */
export function writeView(thread: Thread, view: View): void {
  const body = JSON.stringify(view);
  refuseLarge(body, "The head of a compacted conversation");
  thread.sql.exec(
    "INSERT INTO views (thread, at, body) VALUES (?, ?, ?)",
    thread.id,
    lastEntry(thread),
    body,
  );
}

/** The entries as the model sees them. */
export function readShown(thread: Thread, scope: Scope = {}): Shown {
  return show(readView(thread, scope), readEntries(thread, scope.upToTurn));
}

/** The messages of a request; the API always accepts them. */
export function readMessages(thread: Thread, scope: Scope = {}): Message[] {
  return sentMessages(readShown(thread, scope));
}

function viewOf(body: string): View {
  const { head, ...view } = schema.parse(JSON.parse(body));
  return { ...view, head: head.map(parseEntry).filter((each) => each !== undefined) };
}
