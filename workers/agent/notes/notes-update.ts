// One update of a session's notes: a fork of the conversation edits a copy of them, which takes their
// place in one transaction where the fork ended well and nobody changed them meanwhile. A run that is
// cut off is not gone on with: the notes are as they were, and the next answer makes them due again.

import { errorName, log } from "../../../src/platform/log.ts";
import { lastEntry } from "../../../src/platform/threads/entries.ts";
import { readSize } from "../../../src/platform/threads/size.ts";
import { messageTokens } from "../../../src/shared/compaction/size.ts";
import type { ForkPrefix } from "../../../src/shared/fork/run-fork.ts";
import { forkSucceeded } from "../../../src/shared/fork/run-fork.ts";
import { NOTES_ITERATIONS, NOTES_UPDATE_MS } from "../../../src/shared/limits/notes.ts";
import type { LoopOutcome } from "../../../src/shared/loop/steps.ts";
import { notesPrompt } from "../../../src/shared/session-memory/prompt.ts";
import { copyNotes } from "../../../src/shared/session-memory/sandbox.ts";
import { changedSections } from "../../../src/shared/session-memory/sections.ts";
import { timeInWords } from "../../../src/shared/text/local-time.ts";
import { textTokens } from "../../../src/shared/thread/tokens.ts";
import { appendEvent } from "../rows/events.ts";
import type { NotesState } from "../rows/notes.ts";
import { moveMark, noteSkipped, notesState, writeText } from "../rows/notes.ts";
import type { Run } from "../rows/runs.ts";
import { beginRun, endRun, isUnfinished, withTask } from "../rows/runs.ts";
import type { Conversation, TurnRef } from "../setup/conversation.ts";
import { openConversation } from "../setup/conversation.ts";
import { driveFork } from "../setup/drive-fork.ts";
import { forkPrefix } from "../setup/fork-prefix.ts";
import type { SessionContext } from "../setup/session-context.ts";

export const NOTES_PURPOSE = "session-notes";

/**
 * Updates the notes from the conversation as it is now. Throws what the storage throws; aborting
 * `signal` drops what is not committed.
 */
export async function updateNotes(
  session: SessionContext,
  turn: TurnRef,
  signal: AbortSignal,
): Promise<void> {
  const { sql } = session;
  const of = await openConversation(session);
  // All of one moment: what the fork sees, how far that reaches, and what it goes on from.
  const prefix = forkPrefix(of);
  const upTo = lastEntry(of.thread);
  const from = notesState(sql);
  // The next answer has come, and asks for tools: it is looked at with their results.
  if (prefix.messages.at(-1)?.content.some(({ type }) => type === "tool_use")) return;
  const task = notesPrompt(
    from.text,
    NOTES_ITERATIONS,
    timeInWords(session.now(), of.meta.timeZone),
  );
  if (tooLarge(of, prefix, task)) {
    log("notes.too_large", { turn: turn.n });
    return;
  }
  if (await session.overBudget()) return skip(session, turn);
  const copy = await copyNotes(from.text, prefix.tools, session.now);
  if (signal.aborted) return;
  const run = begin(session, turn, task);
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), NOTES_UPDATE_MS);
  const cut = AbortSignal.any([signal, late.signal]);
  let outcome = "failed";
  try {
    const fork = {
      purpose: NOTES_PURPOSE,
      sessionId: of.meta.id,
      run,
      prefix,
      tools: copy.tools,
      iterations: NOTES_ITERATIONS,
    } as const;
    const end = await driveFork(session, fork, cut, () => cut.aborted);
    if (!end || cut.aborted) outcome = late.signal.aborted ? "failed" : "interrupted";
    else if (forkSucceeded(end)) {
      const made = { from, upTo, text: await copy.read(), outcome: end };
      outcome = finish(session, turn, run, made, signal);
    } else outcome = end.reason === "paused" ? "failed" : end.reason;
  } finally {
    clearTimeout(timer);
    endIfUnfinished(session, run, outcome);
  }
}

/** Notes that a person made larger than a small window: nobody could be shown them. */
function tooLarge(of: Conversation, prefix: ForkPrefix, task: string): boolean {
  const { ratio } = readSize(of.thread);
  const tokens = of.fixed + messageTokens(prefix.messages) + textTokens(task);
  return tokens * Math.min(1, ratio) > of.limits.room;
}

/** What a fork that ended well has made of the notes that it began with. */
interface Made {
  from: NotesState;
  upTo: number;
  text: string;
  outcome: LoopOutcome;
}

/** The one step in which an update becomes part of the session; gives back how its run ended. */
function finish(
  session: SessionContext,
  turn: TurnRef,
  run: Run,
  { from, upTo, text, outcome: end }: Made,
  signal: AbortSignal,
): string {
  const { sql } = session;
  let outcome: string = end.reason;
  session.commit(() => {
    const { version, epoch } = notesState(sql);
    if (signal.aborted) {
      outcome = "interrupted";
      return;
    }
    if (version !== from.version || epoch !== from.epoch) {
      // A person changed them, or the conversation was compacted: what was made of the old is stale.
      outcome = "superseded";
      return;
    }
    const now = session.now();
    moveMark(sql, from, upTo);
    const sections = changedSections(from.text, text);
    if (text === from.text) outcome = "nothing_new";
    else {
      writeText(sql, text, now);
      const tokens = textTokens(text);
      const turn_id = turn.eventId;
      appendEvent(sql, { type: "session_memory.updated", tokens, sections, turn_id }, now);
    }
    if (isUnfinished(sql, run)) endRun(sql, NOTES_PURPOSE, outcome, now);
  });
  return outcome;
}

/** Tells of it once a turn, however many of its answers make the notes due. */
function skip(session: SessionContext, turn: TurnRef): void {
  const { sql } = session;
  if (notesState(sql).skippedTurn === turn.n) return;
  session.commit(() => {
    noteSkipped(sql, turn.n);
    appendEvent(
      sql,
      { type: "memory.skipped", by: NOTES_PURPOSE, reason: "budget", turn_id: turn.eventId },
      session.now(),
    );
  });
}

function begin(session: SessionContext, turn: TurnRef, task: string): Run {
  const turns = { first: turn.n, last: turn.n };
  const begin = () => beginRun(session.sql, NOTES_PURPOSE, turns, session.now());
  return withTask(session.commit(begin), task);
}

/** An object that is gone has no rows to write it to. */
function endIfUnfinished(session: SessionContext, run: Run, outcome: string): void {
  try {
    session.commit(() => {
      if (isUnfinished(session.sql, run))
        endRun(session.sql, NOTES_PURPOSE, outcome, session.now());
    });
  } catch (error) {
    log("notes.end_not_written", { error: errorName(error) });
  }
}
