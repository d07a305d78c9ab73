// What a session tells its account: its tokens, and how it is, for the account's list. Neither is
// lost: tokens are dirty rows, and a session whose rows say more than the account is known to have is
// reported again by the next request or by the alarm.

import { errorName, log } from "../../../src/platform/log.ts";
import type { AccountStub } from "../../../src/platform/objects/account-rpc.ts";
import { accountStub } from "../../../src/platform/objects/account-rpc.ts";
import { delay } from "../../../src/platform/sleep.ts";
import { keepNoted } from "../../../src/platform/state.ts";
import { lastSeq } from "../rows/events.ts";
import { listedVersion, noteListed } from "../rows/listed.ts";
import { readMeta } from "../rows/meta.ts";
import type { Turn } from "../rows/turns.ts";
import { currentTurn } from "../rows/turns.ts";
import { markReported, unreportedUsage } from "../rows/usage.ts";
import type { SessionContext } from "../setup/session-context.ts";
import { isPaused } from "../turn/pause-turn.ts";
import { listedState } from "./session-shape.ts";

/** How long a turn runs before its account is told that it does, in milliseconds. */
const PASSING_MS = 300;

export interface Reports {
  /** Reports what the account does not know; never throws. */
  send(): Promise<void>;
  /** Reports how the session is, where its account does not know; never waits. */
  tell(): void;
  /** What a list shows has changed without an event. */
  changed(): void;
  /** The account is told by somebody else of how the session is now. */
  toldByReply(): void;
  /** Whether something is to be reported. */
  due(): boolean;
}

/** `moreComes`: background work is about to use more tokens, and reports those of the turn with its own. */
export function createReports(
  session: SessionContext,
  gone: () => boolean,
  moreComes: () => boolean,
): Reports {
  const { sql } = session;
  /** What the account was told last by this instance. */
  let told: string | undefined;
  let telling = false;
  let waiting = false;
  // One stub: its calls arrive in their order.
  let account: AccountStub | undefined;

  /**
   * Stands for all that a list shows at once: status and rest. Tokens and times of a turn that runs
   * come with the next report, so no step costs one.
   */
  function mark(): string {
    const turn = currentTurn(sql);
    if (!turn) return `rest ${lastSeq(sql)} ${moreComes()}`;
    const { resumeAt, interrupted } = turn;
    return `${isPaused(sql, turn) ? "paused" : "due"} ${resumeAt} ${interrupted}`;
  }

  function unknown(): boolean {
    const now = mark();
    if (now === told) return false;
    if (told !== undefined) return true;
    // An instance before this one may have told it.
    const { version } = listedState(sql, readMeta(sql), currentTurn(sql));
    if (listedVersion(sql) !== version) return true;
    told = now;
    return false;
  }

  /** It will be told again soon: by the watchdog or its end while a turn runs, then by what follows. */
  function passes(turn: Turn | undefined): boolean {
    return runs(turn) || (turn === undefined && moreComes());
  }

  async function send(all: boolean): Promise<void> {
    if (gone()) return;
    const turn = currentTurn(sql);
    const passing = passes(turn);
    const rows = all || !passing ? unreportedUsage(sql) : [];
    if (rows.length === 0 && !unknown()) return;
    try {
      const meta = readMeta(sql);
      const now = mark();
      const listed = listedState(sql, meta, turn);
      account ??= accountStub(session.env, meta);
      await account.reportUsage(meta.id, rows, { ...listed, passing });
      if (gone()) return;
      // The next turn takes it to disk. An instance that only looks has none, and would tell it each time.
      markReported(sql, rows);
      if (!passing) noteListed(sql, listed.version);
      if (told === undefined) session.commit(() => keepNoted(sql));
      told = now;
    } catch (error) {
      // A stub whose call has failed may be broken for good.
      account = undefined;
      log("session.not_reported", { error: errorName(error) });
    }
  }

  async function sendAndLook(): Promise<void> {
    const before = mark();
    telling = true;
    await send(false);
    telling = false;
    // It may have changed on the way. What could not be sent is left to the alarm.
    if (told === before) tell();
  }

  function tell(): void {
    if (telling || gone() || !unknown()) return;
    if (!runs(currentTurn(sql))) session.waitUntil(sendAndLook());
    else if (!waiting) session.waitUntil(tellIfItLasts());
  }

  /** A turn that is over in a moment is told by its end. */
  async function tellIfItLasts(): Promise<void> {
    waiting = true;
    await delay(PASSING_MS);
    waiting = false;
    if (!telling && !gone() && unknown()) await sendAndLook();
  }

  return {
    send: () => send(true),
    tell,
    changed() {
      told = "changed";
    },
    toldByReply() {
      told = mark();
    },
    due: () => unreportedUsage(sql).length > 0 || unknown(),
  };
}

/** A turn runs, or is about to. */
function runs(turn: Turn | undefined): boolean {
  return turn !== undefined && turn.resumeAt === undefined;
}
