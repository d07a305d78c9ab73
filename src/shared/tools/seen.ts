import type { ToolNote } from "../loop/tool.ts";

/**
 * Takes the notes of a result that was kept into what the model knows. A change alone teaches the
 * model nothing: an Edit may have been made beside lines of others that it never saw, and a Write
 * after it would undo them. Where the model does know the new content, a note says so.
 */
export function rememberNotes(seen: Map<string, string>, notes: readonly ToolNote[]): void {
  for (const note of notes) {
    if (note.type === "seen") seen.set(note.path, note.etag);
    else if (note.operation === "deleted") seen.delete(note.path);
  }
}
