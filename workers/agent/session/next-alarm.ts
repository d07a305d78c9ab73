import { RESEND_FIRST_MS } from "../../../src/shared/limits/extraction.ts";
import { RETRY_FIRST_MS, WATCHDOG_MS } from "../../../src/shared/limits/turn.ts";
import type { Turn } from "../rows/turns.ts";

/** What of a session may be due. */
interface Due {
  /** A turn or a deletion is under way in memory: somebody has to look whether it still is. */
  working: boolean;
  /** The turn that is next. */
  turn: Turn | undefined;
  /** When the next queue message is due, in milliseconds. */
  notifyAt: number | undefined;
  /** The account does not know of all tokens, or not how the session is. */
  unreported: boolean;
}

/** When somebody has to look next, in milliseconds; undefined where nothing is due. */
export function nextAlarm({ working, turn, notifyAt, unreported }: Due, now: number) {
  const soonest = now + RETRY_FIRST_MS;
  const times = [
    working ? now + WATCHDOG_MS : undefined,
    turn && !working ? Math.max(turn.resumeAt ?? 0, soonest) : undefined,
    notifyAt === undefined ? undefined : Math.max(notifyAt, soonest),
    unreported ? now + RESEND_FIRST_MS : undefined,
  ].filter((time) => time !== undefined);
  return times.length === 0 ? undefined : Math.min(...times);
}
