// The views of a thread on disk. Each compaction or shrinking adds a row.

import * as z from "zod";
import type { Entry } from "../../shared/thread/entry.ts";
import type { Message } from "../../shared/thread/messages.ts";
import type { Shown, View } from "../../shared/thread/view.ts";
import { sentMessages, show, WHOLE } from "../../shared/thread/view.ts";
import { firstEntryOf, lastEntry, lastEntryOf, parseEntry, readEntries } from "./entries.ts";
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
export function readView(thread: Thread, { upToTurn, fromTurn }: Scope = {}): View {
  const at = upToTurn === undefined ? Number.MAX_SAFE_INTEGER : lastEntryOf(thread, upToTurn);
  const before = fromTurn === undefined ? Number.MAX_SAFE_INTEGER : firstEntryOf(thread, fromTurn);
  const [row] = thread.sql
    .exec<{ body: string }>(
      // A later view never cuts less, so this is also their order in time.
      `SELECT body FROM views WHERE thread = ? AND at <= ? AND cut < ?
       ORDER BY cut DESC, n DESC LIMIT 1`,
      thread.id,
      at,
      before,
    )
    .toArray();
  return row ? viewOf(row.body) : WHOLE;
}

/** Adds a view, valid from the newest entry on. Within a transaction. */
export function writeView(thread: Thread, view: View): void {
  const body = JSON.stringify(view);
  refuseLarge(body, "The head of a compacted conversation");
  thread.sql.exec(
    "INSERT INTO views (thread, at, cut, body) VALUES (?, ?, ?, ?)",
    thread.id,
    lastEntry(thread),
    view.cut,
    body,
  );
}

/** The entries as the model sees them: what was cut before them is not read. */
export function readShown(thread: Thread, scope: Scope = {}): Shown {
  const view = readView(thread, scope);
  const { upToTurn } = scope;
  const upTo = upToTurn === undefined ? undefined : lastEntryOf(thread, upToTurn);
  return show(view, readEntries(thread, { after: view.cut, upTo }));
}

/** At most so many entries just before a turn, as the model sees them; none of a view's head. */
export function readRecent(thread: Thread, turn: number, most: number): Entry[] {
  const upTo = lastEntryOf(thread, turn - 1);
  const view = readView(thread);
  const after = Math.max(view.cut, upTo - most);
  return show(view, readEntries(thread, { after, upTo })).tail;
}

/** The messages of a request; the API always accepts them. */
export function readMessages(thread: Thread, scope: Scope = {}): Message[] {
  return sentMessages(readShown(thread, scope));
}

function viewOf(body: string): View {
  const { head, ...view } = schema.parse(JSON.parse(body));
  return { ...view, head: head.map(parseEntry).filter((each) => each !== undefined) };
}
