// The notes of a session, in its rows: the text, and how far they and the conversation are. They are
// used in one place, a compaction; `notes-update.ts` writes them, and so may a person.

import * as z from "zod";
import { defineState } from "../../../src/platform/state.ts";
import type { Usage } from "../../../src/shared/loop/model.ts";
import { conversationTokens, type NotesMark } from "../../../src/shared/session-memory/due.ts";
import { NOTES_TEMPLATE } from "../../../src/shared/session-memory/template.ts";

/** One of the tables of a session: the text alone, which few turns change. No row is the template. */
export const NOTES_TABLE =
  "CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY CHECK (id = 1), text TEXT NOT NULL)";

const schema = z.object({
  version: z.number(),
  updatedAt: z.number().optional(),
  baseline: z.number().nullable(),
  toolCalls: z.number(),
  tokens: z.number(),
  asked: z.boolean(),
  upTo: z.number().nullable(),
  epoch: z.number(),
  skippedTurn: z.number().optional(),
});

const state = defineState("notes", schema, {
  version: 0,
  baseline: null,
  toolCalls: 0,
  tokens: 0,
  asked: false,
  upTo: null,
  epoch: 0,
});

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
  const { baseline, epoch } = state.read(sql);
  change(sql, {
    baseline: baseline === null ? null : tokensAfter,
    toolCalls: 0,
    tokens: tokensAfter,
    epoch: epoch + 1,
  });
}

/** All that is known of the notes. */
export function notesState(sql: SqlStorage): NotesState {
  const [row] = sql.exec<{ text: string }>("SELECT text FROM notes").toArray();
  const { updatedAt, skippedTurn, ...rest } = state.read(sql);
  return { text: row?.text ?? NOTES_TEMPLATE, updatedAt, skippedTurn, ...rest };
}

/** What notes go by, without their text. */
export function notesMark(sql: SqlStorage): NotesMark {
  return state.read(sql);
}

/** Counts an answer of the main agent. Within the transaction of the answer. */
export function countAnswer(sql: SqlStorage, usage: Usage, calls: number): void {
  const { toolCalls, tokens } = state.read(sql);
  const told = conversationTokens(usage);
  change(sql, {
    toolCalls: toolCalls + calls,
    asked: calls > 0,
    // A server that says nothing of its usage does not make the conversation shorter.
    tokens: told > 0 ? told : tokens,
  });
}

/** Replaces the text. Within the transaction that looked at what it is conditional on. */
export function writeText(sql: SqlStorage, text: string, now: number): void {
  sql.exec("INSERT OR REPLACE INTO notes (id, text) VALUES (1, ?)", text);
  change(sql, { version: state.read(sql).version + 1, updatedAt: now });
}

/** An update that began at `from` has finished: growth and tool calls count from there. */
export function moveMark(
  sql: SqlStorage,
  from: Pick<NotesState, "tokens" | "toolCalls">,
  upTo: number,
): void {
  const toolCalls = Math.max(0, state.read(sql).toolCalls - from.toolCalls);
  change(sql, { baseline: from.tokens, toolCalls, upTo });
}

/** An event of this turn has told that an update was skipped. */
export function noteSkipped(sql: SqlStorage, turn: number): void {
  change(sql, { skippedTurn: turn });
}

function change(sql: SqlStorage, changes: Partial<z.infer<typeof schema>>): void {
  state.write(sql, { ...state.read(sql), ...changes });
}
