// Views of a thread, on disk. A compaction or a shrinking is a row here, from which on the
// conversation is shown in another way.

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

/** Which part of a conversation is asked for; all of it where nothing is said. */
export interface Scope {
  /** As it was at the end of this turn. */
  upToTurn?: number | undefined;
  /** This turn and those after it must be seen word for word. */
  fromTurn?: number | undefined;
}

/** The view that holds for the newest entry, or held at the end of a turn. */
export function readView({ sql, id }: Thread, scope: Scope = {}): View {
  const { upToTurn = Number.MAX_SAFE_INTEGER, fromTurn } = scope;
  const rows = sql
    .exec<{ body: string }>(
      `SELECT body FROM views WHERE thread = ?1 AND at <= (
         SELECT ifnull(max(n), 0) FROM messages WHERE thread = ?1 AND turn <= ?2)
       ORDER BY n DESC`,
      id,
      upToTurn,
    )
    .toArray()
    .map(({ body }) => viewOf(body));
  if (fromTurn === undefined) return rows[0] ?? WHOLE;
  const { n: first } = sql
    .exec<{ n: number }>(
      "SELECT ifnull(min(n), 0) AS n FROM messages WHERE thread = ? AND turn >= ?",
      id,
      fromTurn,
    )
    .one();
  return rows.find(({ cut }) => cut < first) ?? WHOLE;
}

/** From here on the conversation is shown so. Within a transaction. */
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

/** The messages as they are sent: always such that the API takes them. */
export function readMessages(thread: Thread, scope: Scope = {}): Message[] {
  return sentMessages(readShown(thread, scope));
}

function viewOf(body: string): View {
  const { head, ...view } = schema.parse(JSON.parse(body));
  return { ...view, head: head.map(parseEntry).filter((each) => each !== undefined) };
}
