// What a session does while nobody waits: it sends the queue what is due, runs its extraction, and
// reports to its account. Each may be cut off anywhere; what is due is on disk and is sent again.

import { overBudget, utcDay } from "../../../src/platform/budget.ts";
import { errorName, log } from "../../../src/platform/log.ts";
import { accountStub } from "../../../src/platform/objects/account-rpc.ts";
import { memdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import type { ExtractReply } from "../../../src/platform/objects/session-rpc.ts";
import { userOwner } from "../../../src/platform/objects/store-owner.ts";
import { sendWork } from "../../../src/platform/queue.ts";
import { delay, within } from "../../../src/platform/sleep.ts";
import { RESEND_MOST_MS } from "../../../src/shared/limits/extraction.ts";
import { WATCHDOG_MS } from "../../../src/shared/limits/turn.ts";
import { extract } from "../extraction/extract.ts";
import { wakeNext } from "../extraction/wake-next.ts";
import {
  changeExtraction,
  noteSent,
  readExtraction,
  requestAll,
} from "../rows/extraction-state.ts";
import { readMeta } from "../rows/meta.ts";
import type { SessionContext } from "../setup/session-context.ts";
import type { Reports } from "./report.ts";
import { createReports } from "./report.ts";

export interface Background {
  /** Sends the queue a message where one is due; never waits. */
  notifyQueue(): void;
  /** When the next message is due, in milliseconds. */
  notifyAt(): number | undefined;
  /** Runs what is due; while one runs, another call only learns that it does. */
  run(final: boolean): Promise<ExtractReply>;
  /** Runs what is due, at most until then; what is left is stopped. */
  drain(until: number): Promise<void>;
  /** Stops what runs and begins nothing any more. Never throws. */
  stop(): Promise<void>;
  /** Reports what the account does not know; never throws. */
  reportUsage(): Promise<void>;
  reports: Omit<Reports, "send">;
  overBudget(): Promise<boolean>;
}

/** How long an aborted run may take to stop, in milliseconds. */
const STOP_MS = 2_000;
/** Pause between two looks at a memory that is somebody else's, in milliseconds. */
const LOOK_MS = 250;

/** `gone`: the session has no rows any more. */
export function createBackground(session: SessionContext, gone = () => false): Background {
  const { sql, env } = session;
  const moreComes = () => {
    const { requested, cursor, sends } = readExtraction(sql);
    // One that nothing came of in its time may be long in coming.
    return running !== undefined || (requested > cursor && sends <= 1);
  };
  const reports = createReports(session, gone, moreComes);
  let running: { stop: AbortController; done: Promise<ExtractReply> } | undefined;
  /** Whether this instance has taken over what one before it left in the middle. */
  let tookOver = false;
  /** Nothing begins any more, also where somebody still waits for what is due. */
  let ended = false;

  /** What a run that is cut off still writes is refused once its lease is given back. */
  const cutOff = async () => {
    // It may have stopped, and be nobody's run any more, by the time that its lease is given back.
    const cut = running;
    cut?.stop.abort();
    const meta = readMeta(sql);
    const { lease } = readExtraction(sql);
    if (meta.memory.enabled && lease !== null) {
      const stub = memdirStub(env, userOwner(meta), meta.memory.storeId);
      const given = await stub.release("extraction", lease);
      if (given.ok && given.value !== null) await wakeNext(session, given.value);
    }
    await within(STOP_MS, cut?.done.catch(() => {}) ?? Promise.resolve());
  };

  const start = (final: boolean) => {
    const stop = new AbortController();
    const done = extract(session, final, stop.signal).finally(() => {
      running = undefined;
    });
    running = { stop, done };
    tookOver = true;
    session.waitUntil(
      done.then(
        (reply) => {
          session.ended();
          return "next" in reply && reply.next !== null ? wakeNext(session, reply.next) : undefined;
        },
        () => session.ended(),
      ),
    );
    return done;
  };

  const background: Background = {
    notifyQueue() {
      const at = ended ? undefined : background.notifyAt();
      if (at === undefined || at > session.now() || running) return;
      const { memory, tenant, user, id } = readMeta(sql);
      if (!memory.enabled) return;
      tookOver = true;
      const { requested, cursor } = readExtraction(sql);
      noteSent(sql, session.now());
      const work = { kind: "extract" as const, tenant, user, session: id, store: memory.storeId };
      // Without a number where only a lease is to be given back.
      const sent = sendWork(env.WORK, requested > cursor ? { ...work, upTo: requested } : work);
      session.waitUntil(
        sent.catch((error: unknown) => log("extraction.not_sent", { error: errorName(error) })),
      );
    },
    notifyAt() {
      const { resendAt, lease } = readExtraction(sql);
      if (resendAt === null) return undefined;
      if (running) return Math.max(resendAt, session.now() + WATCHDOG_MS);
      // A lease without a run: an instance before this one died in the middle.
      return lease !== null && !tookOver ? session.now() : resendAt;
    },
    async run(wanted) {
      if (ended) return { status: "none" };
      if (running) return { status: "waiting" };
      const { requested, cursor, lease } = readExtraction(sql);
      // No turn follows in an archived session either.
      const final = wanted || readMeta(sql).archivedAt !== null;
      if (!final && requested <= cursor && lease === null) return { status: "none" };
      if (!final && (await background.overBudget())) {
        session.commit(() => changeExtraction(sql, { resendAt: session.now() + RESEND_MOST_MS }));
        return { status: "none" };
      }
      if (ended) return { status: "none" };
      return running ? { status: "waiting" } : start(final);
    },
    async drain(until) {
      const { memory } = readMeta(sql);
      if (!memory.enabled || session.settings.EXTRACTION_EVERY_TURNS === 0) return;
      if ((await background.overBudget()) || ended) return;
      // What is not done in time is due from here on, also where a crash comes in between.
      session.commit(() => requestAll(sql, session.now()));
      while (!ended && session.now() < until) {
        const work = running?.done ?? start(true);
        const reply = await within(
          until - session.now(),
          work.catch(() => undefined),
        );
        if (!reply || reply.status === "none") break;
        const ms = reply.status === "retry" ? reply.afterMs : LOOK_MS;
        if (reply.status !== "done") await delay(Math.min(ms, until - session.now()));
      }
      if (running) await cutOff();
    },
    async stop() {
      ended = true;
      try {
        await cutOff();
      } catch (error) {
        // A lease that is not given back passes on by itself.
        log("extraction.not_cut_off", { error: errorName(error) });
      }
    },
    reportUsage: () => reports.send(),
    reports,
    async overBudget() {
      const budget = session.settings.DAILY_TOKEN_BUDGET;
      if (budget === undefined) return false;
      try {
        await background.reportUsage();
        const used = await accountStub(env, readMeta(sql)).tokensOn(utcDay(session.now()));
        return overBudget(used, budget);
      } catch (error) {
        // Who cannot be asked does not stop the conversation, nor what belongs to it.
        log("session.budget_unknown", { error: errorName(error) });
        return false;
      }
    },
  };

  return background;
}
