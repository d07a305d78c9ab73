// Steps 2 to 7 of a session's loop: what is done to the view of the conversation so that it fits its
// model, and when. What changes is one transaction; a crash before it has changed nothing.

import { sleep } from "../../../src/platform/sleep.ts";
import { lastEntry, readEntries } from "../../../src/platform/threads/entries.ts";
import { canonicalPaths, forgetRead, noteRead } from "../../../src/platform/threads/read-files.ts";
import {
  changeSize,
  entryTokens,
  readSize,
  tailTokens,
} from "../../../src/platform/threads/size.ts";
import { keepResultsOf } from "../../../src/platform/threads/stored-results.ts";
import type { Thread } from "../../../src/platform/threads/thread.ts";
import {
  readMessages,
  readShown,
  readView,
  writeView,
} from "../../../src/platform/threads/view.ts";
import type { Compaction } from "../../../src/shared/compaction/compact.ts";
import { compact } from "../../../src/shared/compaction/compact.ts";
import type { ContextLimits } from "../../../src/shared/compaction/context-limits.ts";
import { messageTokens, promptTokens } from "../../../src/shared/compaction/size.ts";
import { tailOf } from "../../../src/shared/compaction/tail.ts";
import { COMPACTION_FAILURES } from "../../../src/shared/limits/compaction.ts";
import { NOTES_SECTION_TOKENS, NOTES_TOKENS } from "../../../src/shared/limits/notes.ts";
import type { Prepared } from "../../../src/shared/loop/loop.ts";
import type { ModelFailure } from "../../../src/shared/loop/model.ts";
import { notesHaveContent } from "../../../src/shared/session-memory/sections.ts";
import { notesForSummary } from "../../../src/shared/session-memory/summary.ts";
import { timeInWords } from "../../../src/shared/text/local-time.ts";
import { filesNamed } from "../../../src/shared/thread/messages.ts";
import type { View } from "../../../src/shared/thread/view.ts";
import { sentMessages, show } from "../../../src/shared/thread/view.ts";
import { compactionError } from "../contract/session-errors.ts";
import { erasures } from "../rows/erasures.ts";
import { appendEvent } from "../rows/events.ts";
import { readNotes, rebaseNotes } from "../rows/notes.ts";
import { forgetShown } from "../rows/recalls.ts";
import type { Conversation, TurnRef } from "../setup/conversation.ts";
import type { SessionContext } from "../setup/session-context.ts";
import { countPrompt, fileNow, isIndex, summarise } from "./compaction-model.ts";
import { shrinkView } from "./shrink-view.ts";

/** A conversation that is to fit, and the turn that it is made to fit for, or that ended last. */
export interface Fitting extends Conversation {
  turn: TurnRef;
}

type Trigger = "auto" | "manual" | "too_long";

/** The conversation grows by this part of the room before the same is tried again. */
const COMPACT_AGAIN = 1 / 10;
/** The notes take at most this part of a small room. */
const NOTES_SHARE = 1 / 4;
/** An estimate whose uncounted part may be off by this much is not trusted near a threshold. */
const DOUBT = 1 / 4;

/**
 * Makes the conversation fit before a model call: leaves out what can be had again, then compacts,
 * then refuses. `tooLong`: the model has just refused it, whatever the figures say. `before`: the
 * erasures when it was opened.
 */
export async function prepareContext(
  session: SessionContext,
  of: Fitting,
  { tooLong, before }: { tooLong: boolean; before: number },
  signal: AbortSignal,
): Promise<Prepared> {
  const { thread, limits } = of;
  let changed = false;
  let tokens = await sizeOf(session, of, limits.shrinkAt, signal);
  if (tokens >= Math.max(limits.shrinkAt, readSize(thread).shrinkFrom) || tooLong) {
    changed = shrinkView(session, of, tokens);
    if (changed) tokens = await sizeOf(session, of, limits.compactAt, signal);
  }
  const { requested, compactFrom } = readSize(thread);
  const due = tokens >= Math.max(limits.compactAt, compactFrom) && mayTry(of);
  if ((tooLong || due) && leastTokens(of) > limits.room) {
    // Nothing that is left out would make it fit.
    return { status: "refused", failure: tooLarge(of, tokens) };
  }
  if (tooLong || requested || due) {
    // Nothing that is erased by now goes into a summary: the turn begins anew with what it reads then.
    await session.settleLosses();
    if (erasures(session.sql) !== before) return { status: "paused", ms: 0 };
    const trigger = tooLong ? "too_long" : requested ? "manual" : "auto";
    const status = await compactNow(session, of, trigger, tokens, signal);
    if (status === "compacted") {
      changed = true;
      tokens = await sizeOf(session, of, limits.room, signal);
    } else if (tooLong && status !== "stopped") {
      return { status: "refused", failure: tooLarge(of, tokens) };
    }
  }
  if (signal.aborted) return { status: "ready" };
  if (tokens > limits.room) return { status: "refused", failure: tooLarge(of, tokens) };
  return changed ? { status: "ready", messages: readMessages(thread) } : { status: "ready" };
}

/** `stopped`: its signal was aborted before anything was changed. */
type Compacted = Compaction["status"] | "stopped";

/** Compacts, whatever the size. `tokens` is the conversation's before it. */
export async function compactNow(
  session: SessionContext,
  of: Fitting,
  trigger: Trigger,
  tokens: number,
  signal: AbortSignal,
): Promise<Compacted> {
  const { thread, limits } = of;
  await awaitNotes(session, signal);
  if (signal.aborted) return "stopped";
  const view = readView(thread);
  const shown = readShown(thread);
  const made = await compact(
    {
      ...shown,
      cut: view.cut,
      notes: summaryNotes(session.sql, limits),
      limits,
      fixed: of.fixed,
      ratio: readSize(thread).ratio,
      time: timeInWords(session.now(), of.meta.timeZone),
    },
    {
      summarise: (messages, stop) => summarise(session, of, messages, stop),
      readFile: (path) => fileNow(of, path),
    },
    signal,
  );
  if (signal.aborted) return "stopped";
  if (made.status === "compacted") {
    return commitCompaction(session, of, { ...made, view }, trigger, tokens, signal);
  }
  session.commit(() => {
    if (made.status === "nothing") {
      changeSize(thread, { requested: false, compactFrom: tokens + limits.room * COMPACT_AGAIN });
      return;
    }
    const failures = readSize(thread).failures + 1;
    changeSize(thread, { requested: false, failures, failedTurn: of.turn.n });
    const error = compactionError(made.kind);
    appendEvent(
      session.sql,
      { type: "session.error", error, turn_id: of.turn.eventId },
      session.now(),
    );
  });
  return made.status;
}

/** Waits for an update of the notes in flight; one that is not done by then is dropped. */
async function awaitNotes({ notes, settings }: SessionContext, signal: AbortSignal): Promise<void> {
  const update = notes.inFlight();
  if (!update) return;
  await Promise.race([update, sleep(settings.NOTES_WAIT_MS, signal)]);
  if (!signal.aborted) notes.stop();
}

/** The notes as a summary of the messages that they know; undefined where nothing is in them. */
function summaryNotes(
  sql: SqlStorage,
  limits: ContextLimits,
): { text: string; upTo: number } | undefined {
  const { text, upTo } = readNotes(sql);
  if (!notesHaveContent(text)) return undefined;
  const tokens = Math.min(NOTES_TOKENS, Math.floor(limits.room * NOTES_SHARE));
  const sectionTokens = Math.min(NOTES_SECTION_TOKENS, Math.floor(tokens / 3));
  return { text: notesForSummary(text, { tokens, sectionTokens }), upTo: upTo ?? 0 };
}

/** Tokens of the next request; counted by the server where the estimate is too near the threshold. */
export async function sizeOf(
  session: SessionContext,
  of: Fitting,
  threshold: number,
  signal: AbortSignal,
): Promise<number> {
  const { thread } = of;
  const tail = tailTokens(thread, of.fixed);
  const size = readSize(thread);
  const tokens = promptTokens(size, tail);
  const doubt = tail * size.ratio * DOUBT;
  if (Math.abs(tokens - threshold) > doubt) return tokens;
  const messages = readMessages(thread);
  return (await countPrompt(session, of, messages, signal)) ?? tokens;
}

/** Tokens of what stays in any case: the fixed part, the user's words, the last step. */
function leastTokens({ thread, fixed }: Fitting): number {
  const { head, tail } = readShown(thread);
  const { kept, carried } = tailOf(tail, 0, { head });
  const tokens = fixed + entryTokens([...carried, ...kept]);
  return Math.floor(tokens * readSize(thread).ratio);
}

/** After some failures in a row a turn is not held up by another try; the next turn has one. */
function mayTry({ thread, turn }: Fitting): boolean {
  const { failures, failedTurn } = readSize(thread);
  return failures < COMPACTION_FAILURES || failedTurn < turn.n;
}

async function commitCompaction(
  session: SessionContext,
  of: Fitting,
  made: Extract<Compaction, { status: "compacted" }> & { view: View },
  trigger: Trigger,
  tokensBefore: number,
  signal: AbortSignal,
): Promise<Compacted> {
  const { sql } = session;
  const { thread, limits, fixed } = of;
  const { cut, head, kept, usedNotes, files } = made;
  const view = { cut, head, results: made.view.results, thinking: lastEntry(thread) };
  const messages = sentMessages(show(view, kept));
  const { ratio } = readSize(thread);
  const counted = await countPrompt(session, of, messages, signal);
  const tokensAfter = counted ?? Math.ceil((fixed + messageTokens(messages)) * ratio);
  if (signal.aborted) return "stopped";
  session.commit(() => {
    writeView(thread, view);
    keepResultsOf(thread, [...head, ...kept]);
    changeSize(thread, {
      counted: counted ?? null,
      upTo: counted === undefined ? 0 : lastEntry(thread),
      shrinkFrom: 0,
      compactFrom: tokensAfter + limits.room * COMPACT_AGAIN,
      failures: 0,
      requested: false,
    });
    forgetShown(sql, firstWholeTurn(thread, cut));
    noteRead(
      thread,
      files.map((file) => ({ type: "seen", ...file })),
    );
    const shown = new Set([
      ...files.map(({ path }) => path),
      ...canonicalPaths(filesNamed(kept.map(({ message }) => message))),
    ]);
    forgetRead(thread, undefined, (path) => shown.has(path) || isIndex(of, path));
    rebaseNotes(sql, tokensAfter);
    appendEvent(
      sql,
      {
        type: "agent.thread_context_compacted",
        turn_id: of.turn.eventId,
        trigger,
        tokens_before: tokensBefore,
        tokens_after: tokensAfter,
        used_notes: usedNotes,
      },
      session.now(),
    );
  });
  return "compacted";
}

/** The first turn of which nothing was cut. */
function firstWholeTurn(thread: Thread, cut: number): number {
  const [last] = readEntries(thread, { after: cut - 1, upTo: cut });
  return (last?.turn ?? 0) + 1;
}

function tooLarge({ fixed, limits }: Fitting, tokens: number): ModelFailure {
  const why =
    fixed > limits.room / 2
      ? `the system prompt, the memory's index and the tools take about ${fixed} of them: shorten these`
      : "ask for less at once, or start a new session: what was saved to memory is known there";
  return {
    status: "failed",
    kind: "too_long",
    message: `The conversation needs about ${tokens} tokens, more than the ${limits.room} that the model's window of ${limits.window} leaves for it; ${why}`,
  };
}
