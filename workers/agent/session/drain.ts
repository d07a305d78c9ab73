// The end of a session. One that is archived waits for its work in flight, but not for ever; one that is
// deleted stops it.

import { errorName, log } from "../../../src/platform/log.ts";
import { within } from "../../../src/platform/sleep.ts";
import type { SessionNotes } from "../setup/session-context.ts";
import type { Background } from "./background.ts";

/** A turn, or a compaction between two turns, while it runs. */
export interface Running {
  stop: AbortController;
  done: Promise<void>;
  /** Undefined for a compaction. */
  turn: number | undefined;
}

/** What a session has in flight. */
interface InFlight {
  running: Running | undefined;
  background: Background;
  notes: Pick<SessionNotes, "inFlight" | "stop">;
}

/** How long a turn that was stopped, or a last report, may still take, in milliseconds. */
const LAST_MS = 5_000;

/** Finishes the turn that runs and what follows from it, within so many milliseconds. */
export async function drain(work: InFlight, drainMs: number): Promise<void> {
  const until = Date.now() + drainMs;
  if (work.running) await within(drainMs, work.running.done);
  await drainBackground(work, until);
}

/** Stops what is in flight for good: nothing of it comes after. What was committed before stays. */
export async function stopAll({ running, background, notes }: InFlight): Promise<void> {
  const update = notes.inFlight();
  running?.stop.abort();
  notes.stop();
  await Promise.all([
    within(LAST_MS, running?.done ?? Promise.resolve()),
    within(LAST_MS, update ?? Promise.resolve()),
    background.stop(),
  ]);
  await within(LAST_MS, background.reportUsage());
}

/** A failure here does not keep a session from its end. */
async function drainBackground({ background, notes }: InFlight, until: number): Promise<void> {
  try {
    await Promise.all([background.drain(until), drainNotes(notes, until)]);
  } catch (error) {
    log("session.not_drained", { error: errorName(error) });
  }
}

async function drainNotes(notes: InFlight["notes"], until: number): Promise<void> {
  const update = notes.inFlight();
  if (update) await within(until - Date.now(), update);
  notes.stop();
}
