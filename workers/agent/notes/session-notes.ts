import { errorName, log } from "../../../src/platform/log.ts";
import { NOTES_FAILURES, NOTES_TOOL_CALLS } from "../../../src/shared/limits/notes.ts";
import { notesDue } from "../../../src/shared/session-memory/due.ts";
import { isBare } from "../contract/session-modes.ts";
import { readMeta } from "../rows/meta.ts";
import { notesMark } from "../rows/notes.ts";
import { endRun, lastRunsEnded, unfinishedRun } from "../rows/runs.ts";
import type { TurnRef } from "../setup/conversation.ts";
import type { SessionContext, SessionNotes } from "../setup/session-context.ts";
import { NOTES_PURPOSE, updateNotes } from "./notes-update.ts";

/** The ends of an update that say nothing against the next one. */
const NO_FAILURE = new Set(["end_turn", "iterations", "nothing_new", "superseded", "interrupted"]);

/**
 * Looks after each answer whether the notes are due, and updates them, one update at a time; one that
 * is due while another runs is looked at again after the next answer. A run that an instance before
 * this one left in the middle is ended.
 */
export function createSessionNotes(session: SessionContext): SessionNotes {
  const { sql } = session;
  let running: { stop: AbortController; done: Promise<void> } | undefined;
  if (unfinishedRun(sql, NOTES_PURPOSE)) {
    session.commit(() => endRun(sql, NOTES_PURPOSE, "interrupted", session.now()));
  }

  const look = (turn: TurnRef) => {
    try {
      const { metadata, deleting } = readMeta(sql);
      if (running || deleting || isBare(metadata)) return;
      const { settings } = session;
      const thresholds = {
        firstTokens: settings.NOTES_FIRST_TOKENS,
        growthTokens: settings.NOTES_GROWTH_TOKENS,
        toolCalls: NOTES_TOOL_CALLS,
      };
      if (!notesDue(notesMark(sql), thresholds)) return;
      // A turn of many answers would else pay for as many updates that fail in the same way.
      const failed = (outcome: string) => !NO_FAILURE.has(outcome);
      if (lastRunsEnded(sql, NOTES_PURPOSE, turn.n, failed) < NOTES_FAILURES) start(turn);
    } catch (error) {
      log("notes.not_looked_at", { error: errorName(error) });
    }
  };

  const start = (turn: TurnRef) => {
    const stop = new AbortController();
    const update = async () => {
      try {
        await updateNotes(session, turn, stop.signal);
      } catch (error) {
        log("notes.failed", { error: errorName(error) });
      }
      if (running === own) running = undefined;
      session.ended();
    };
    const own = { stop, done: Promise.resolve().then(update) };
    running = own;
    session.waitUntil(own.done);
  };

  return {
    look,
    inFlight: () => running?.done,
    stop() {
      running?.stop.abort();
      running = undefined;
    },
  };
}
