// The notes as people read and change them.

import { MemdirError } from "../../../src/shared/errors.ts";
import type { Precondition } from "../../../src/shared/files/store.ts";
import { NOTES_BYTES } from "../../../src/shared/limits/notes.ts";
import { checkNotes } from "../../../src/shared/session-memory/check-notes.ts";
import { sectionSizes } from "../../../src/shared/session-memory/sections.ts";
import { byteLength } from "../../../src/shared/text/bytes.ts";
import { textTokens } from "../../../src/shared/thread/tokens.ts";
import { notesState, writeText } from "../rows/notes.ts";

export interface NotesPage {
  body: Record<string, unknown>;
  etag: string;
}

/** The notes; of a session in which nothing was noted yet, their headings. */
export function notesPage(sql: SqlStorage): NotesPage {
  const { text, version, updatedAt } = notesState(sql);
  const body = {
    type: "session_notes",
    notes: text,
    tokens: textTokens(text),
    sections: sectionSizes(text),
    updated_at: updatedAt === undefined ? null : new Date(updatedAt).toISOString(),
  };
  return { body, etag: String(version) };
}

/**
 * Replaces the notes by a person's. Throws `precondition_failed` where they are not as the person knew
 * them, `invalid_request` where a heading is missing, `too_large`. Within a transaction.
 */
export function putNotes(
  sql: SqlStorage,
  text: string,
  precondition: Precondition | undefined,
  now: number,
): void {
  const notes = `${text.replaceAll(/\r\n?/g, "\n").trimEnd()}\n`;
  const bytes = byteLength(notes);
  if (bytes > NOTES_BYTES) {
    throw new MemdirError(
      "too_large",
      `notes: ${bytes} bytes; the limit is ${NOTES_BYTES}. Shorten them`,
    );
  }
  const reason = checkNotes(notes);
  if (reason !== undefined) throw new MemdirError("invalid_request", `notes: ${reason}`);
  const current = notesState(sql);
  if (!holds(precondition, current.version)) {
    throw new MemdirError(
      "precondition_failed",
      "The notes are not as the precondition says: they were changed meanwhile. Read them again",
    );
  }
  if (notes !== current.text) writeText(sql, notes, now);
}

/** "Absent" are notes that nobody has written yet. */
function holds(precondition: Precondition | undefined, version: number): boolean {
  if (precondition === undefined) return true;
  return "ifAbsent" in precondition ? version === 0 : precondition.ifMatch === String(version);
}
