import { errorName, log } from "../../../src/platform/log.ts";
import { NOTES_FAILURES, NOTES_TOOL_CALLS } from "../../../src/shared/limits/notes.ts";
import { notesDue } from "../../../src/shared/session-memory/due.ts";
import { readMeta } from "../rows/meta.ts";
import type { SessionNotes } from "../rows/notes.ts";
import { notesState } from "../rows/notes.ts";
import { endUnfinished, lastRunsEnded } from "../rows/runs.ts";
import type { NotesPorts, NotesTurn } from "./notes-update.ts";
import { NOTES_PURPOSE, updateNotes } from "./notes-update.ts";

/** The ends of an update that say nothing against the next one. */
const NO_FAILURE = new Set(["end_turn", "iterations", "nothing_new", "superseded", "interrupted"]);

export interface SessionNotesPorts extends NotesPorts {
  /** Keeps the object alive for work that nobody waits for. */
  waitUntil(work: Promise<unknown>): void;
  /** An update has ended, well or not. */
  ended(): void;
}

/**
 * Looks behind each answer whether the notes are due, and updates them, one update at a time; one that
 * is due while another runs is looked at again behind the next answer. A run that an instance before
 * this one left in the middle is ended.
 */
export function createSessionNotes(ports: SessionNotesPorts): SessionNotes {
  const { sql } = ports;
  let running: { stop: AbortController; done: Promise<void> } | undefined;
  ports.commit(() => endUnfinished(sql, NOTES_PURPOSE, "interrupted", ports.now()));

  const look = (turn: NotesTurn) => {
    try {
      if (running || readMeta(sql).metadata.bare === "true") return;
      const { settings } = ports;
      const thresholds = {
        firstTokens: settings.NOTES_FIRST_TOKENS,
        growthTokens: settings.NOTES_GROWTH_TOKENS,
        toolCalls: NOTES_TOOL_CALLS,
      };
      if (!notesDue(notesState(sql), thresholds)) return;
      // A turn of many answers would else pay for as many updates that fail in the same way.
      const failed = (outcome: string) => !NO_FAILURE.has(outcome);
      if (lastRunsEnded(sql, NOTES_PURPOSE, turn.n, failed) < NOTES_FAILURES) start(turn);
    } catch (error) {
      log("notes.not_looked_at", { error: errorName(error) });
    }
  };

  const start = (turn: NotesTurn) => {
    const stop = new AbortController();
    const update = async () => {
      try {
        await updateNotes(ports, turn, stop.signal);
      } catch (error) {
        log("notes.failed", { error: errorName(error) });
      }
      if (running === own) running = undefined;
      ports.ended();
    };
    const own = { stop, done: Promise.resolve().then(update) };
    running = own;
    ports.waitUntil(own.done);
  };

  return {
    answered(turn, asked) {
      if (!asked) look(turn);
    },
    results: look,
    inFlight: () => running?.done,
    stop() {
      running?.stop.abort();
      running = undefined;
    },
  };
}
