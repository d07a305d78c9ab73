// The end of a session: what is under way is waited for, so that none is cut in half, but not for ever.

import { errorName, log } from "../../../src/platform/log.ts";
import { within } from "../../../src/platform/sleep.ts";
import type { SessionNotes } from "../setup/session-context.ts";
import type { Background } from "./background.ts";

/** The turn that runs. */
interface Running {
  stop: AbortController;
  done: Promise<void>;
}

/** What follows from turns. */
interface Behind {
  background: Background;
  notes: Pick<SessionNotes, "inFlight" | "stop">;
}

/** How long a turn that was stopped, or a last report, may still take, in milliseconds. */
const LAST_MS = 5_000;

/** Waits for the turn that runs and for what follows from it, at most so many milliseconds. */
export async function workOff(
  running: Running | undefined,
  behind: Behind,
  drainMs: number,
): Promise<void> {
  const until = Date.now() + drainMs;
  if (running) await within(drainMs, running.done);
  await drain(behind, until);
}

/** The same; then stops what is left, so that nothing of it comes after. */
export async function stopWork(
  running: Running | undefined,
  behind: Behind,
  drainMs: number,
): Promise<void> {
  const until = Date.now() + drainMs;
  if (running) {
    await within(drainMs, running.done);
    running.stop.abort();
    await within(LAST_MS, running.done);
  }
  await drain(behind, until);
  await within(LAST_MS, behind.background.report());
}

/** What cannot be worked off does not keep a session from its end. */
async function drain({ background, notes }: Behind, until: number): Promise<void> {
  try {
    await Promise.all([background.drain(until), drainNotes(notes, until)]);
  } catch (error) {
    log("session.not_drained", { error: errorName(error) });
  }
}

async function drainNotes(notes: Behind["notes"], until: number): Promise<void> {
  const update = notes.inFlight();
  if (update) await within(until - Date.now(), update);
  notes.stop();
}
