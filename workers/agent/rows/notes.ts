// The notes of a session, in its rows: the text, and how far they and the conversation are. They are
// used in one place, a compaction; `notes-update.ts` writes them, and so may a person.

import type { Usage } from "../../../src/shared/loop/model.ts";
import { conversationTokens, type NotesMark } from "../../../src/shared/session-memory/due.ts";
import { NOTES_TEMPLATE } from "../../../src/shared/session-memory/template.ts";

/** One of the tables of a session; one row. A text of NULL is the template. */
export const NOTES_TABLE = `CREATE TABLE IF NOT EXISTS notes (
    id INTEGER PRIMARY KEY CHECK (id = 1), text TEXT, version INTEGER NOT NULL DEFAULT 0,
    updated_at INTEGER, baseline INTEGER, tool_calls INTEGER NOT NULL DEFAULT 0,
    tokens INTEGER NOT NULL DEFAULT 0, asked INTEGER NOT NULL DEFAULT 0, up_to INTEGER,
    epoch INTEGER NOT NULL DEFAULT 0, skipped_turn INTEGER)`;

export interface NotesState extends NotesMark {
  text: string;
  /** Counts the changes of the text, by whomever. */
  version: number;
  /** Milliseconds of the last change; undefined where there was none. */
  updatedAt: number | undefined;
  /** The newest message (`messages.n`) that the last finished update has seen. */
  upTo: number | null;
  /** Counts the compactions: an update does not reach over one. */
  epoch: number;
  /** The turn whose event last told that an update was skipped. */
  skippedTurn: number | undefined;
}

type Row = {
  text: string | null;
  version: number;
  updated_at: number | null;
  baseline: number | null;
  tool_calls: number;
  tokens: number;
  asked: number;
  up_to: number | null;
  epoch: number;
  skipped_turn: number | null;
};

/** The notes as they are; `upTo` is the newest message (`messages.n`) that they cover, if any. */
export function readNotes(sql: SqlStorage): { text: string; version: number; upTo: number | null } {
  const { text, version, upTo } = notesState(sql);
  return { text, version, upTo };
}

/**
 * The conversation was made shorter, to so many tokens: growth counts from there, and an update that
 * still looks at what was before is dropped. Within the transaction of the compaction.
 */
export function rebaseNotes(sql: SqlStorage, tokensAfter: number): void {
  ensureRow(sql);
  sql.exec(
    `UPDATE notes SET baseline = CASE WHEN baseline IS NULL THEN NULL ELSE ? END, tool_calls = 0,
       tokens = ?, epoch = epoch + 1`,
    tokensAfter,
    tokensAfter,
  );
}

/** All that is known of the notes. */
export function notesState(sql: SqlStorage): NotesState {
  const [row] = sql.exec<Row>("SELECT * FROM notes").toArray();
  return {
    text: row?.text ?? NOTES_TEMPLATE,
    version: row?.version ?? 0,
    updatedAt: row?.updated_at ?? undefined,
    baseline: row?.baseline ?? null,
    toolCalls: row?.tool_calls ?? 0,
    tokens: row?.tokens ?? 0,
    asked: row?.asked === 1,
    upTo: row?.up_to ?? null,
    epoch: row?.epoch ?? 0,
    skippedTurn: row?.skipped_turn ?? undefined,
  };
}

/** Counts an answer of the main agent. Within the transaction of the answer. */
export function countAnswer(sql: SqlStorage, usage: Usage, calls: number): void {
  const tokens = conversationTokens(usage);
  ensureRow(sql);
  sql.exec(
    `UPDATE notes SET tool_calls = tool_calls + ?, asked = ?,
       tokens = CASE WHEN ? > 0 THEN ? ELSE tokens END`,
    calls,
    calls > 0 ? 1 : 0,
    // A server that says nothing of its usage does not make the conversation shorter.
    tokens,
    tokens,
  );
}

/** Replaces the text. Within the transaction that looked at what it is conditional on. */
export function writeText(sql: SqlStorage, text: string, now: number): void {
  ensureRow(sql);
  sql.exec("UPDATE notes SET text = ?, version = version + 1, updated_at = ?", text, now);
}

/** An update that began at `from` has finished: growth and tool calls count from there. */
export function moveMark(
  sql: SqlStorage,
  from: Pick<NotesState, "tokens" | "toolCalls">,
  upTo: number,
): void {
  sql.exec(
    "UPDATE notes SET baseline = ?, tool_calls = max(0, tool_calls - ?), up_to = ?",
    from.tokens,
    from.toolCalls,
    upTo,
  );
}

/** An event of this turn has told that an update was skipped. */
export function noteSkipped(sql: SqlStorage, turn: number): void {
  ensureRow(sql);
  sql.exec("UPDATE notes SET skipped_turn = ?", turn);
}

function ensureRow(sql: SqlStorage): void {
  sql.exec("INSERT OR IGNORE INTO notes (id) VALUES (1)");
}
