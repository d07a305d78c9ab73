// One update of a session's notes: a fork of the conversation edits a copy of them, which takes their
// place in one transaction where the fork ended well and nobody changed them meanwhile. A run that is
// cut off is not gone on with: the notes are as they were, and the next answer makes them due again.

import { errorName, log } from "../../../src/platform/log.ts";
import { lastMessage } from "../../../src/platform/threads/entries.ts";
import { fixedTokens, readContext } from "../../../src/platform/threads/size.ts";
import type { AgentSettings } from "../../../src/platform/variables.ts";
import { messageTokens } from "../../../src/shared/compaction/size.ts";
import type { ForkPrefix } from "../../../src/shared/fork/forked-agent.ts";
import { forkSucceeded, newFork, runFork } from "../../../src/shared/fork/forked-agent.ts";
import { FORK_MODEL_ATTEMPTS } from "../../../src/shared/limits/extraction.ts";
import { NOTES_ITERATIONS, NOTES_UPDATE_MS } from "../../../src/shared/limits/notes.ts";
import type { LoopStep } from "../../../src/shared/loop/steps.ts";
import { textTokens } from "../../../src/shared/loop/tokens.ts";
import { notesPrompt } from "../../../src/shared/session-memory/prompt.ts";
import { copyNotes } from "../../../src/shared/session-memory/sandbox.ts";
import { changedSections } from "../../../src/shared/session-memory/sections.ts";
import type { AgentEnv } from "../../env.ts";
import { appendEvent } from "../rows/events.ts";
import type { Meta } from "../rows/meta.ts";
import { readMeta } from "../rows/meta.ts";
import type { NotesState } from "../rows/notes.ts";
import { moveMark, noteSkipped, notesState, writeText } from "../rows/notes.ts";
import type { Run } from "../rows/runs.ts";
import { beginRun, endRun, isUnfinished, recordRunStep } from "../rows/runs.ts";
import type { Turn } from "../rows/turns.ts";
import { addStepUsage } from "../rows/usage.ts";
import { forkPrefix } from "../setup/fork-prefix.ts";
import { turnMemory } from "../setup/memory.ts";
import { limitsOf, loopSurroundings } from "../setup/model-ports.ts";

export const NOTES_PURPOSE = "session-notes";

export interface NotesPorts {
  sql: SqlStorage;
  env: Pick<AgentEnv, "FILES" | "MEMDIR">;
  settings: AgentSettings;
  /** Runs a function as one transaction and tells the subscribers afterwards. */
  commit(write: () => void): void;
  now(): number;
  /** Whether the user's tokens of the day are used up. */
  overBudget(): Promise<boolean>;
}

/** An answer behind which the notes are due. */
export type NotesTurn = Pick<Turn, "n" | "eventId">;

/**
 * Updates the notes from the conversation as it is now, which ends with no call unanswered. Throws
 * what the storage throws; aborting `signal` drops what is not committed.
 */
export async function updateNotes(
  ports: NotesPorts,
  turn: NotesTurn,
  signal: AbortSignal,
): Promise<void> {
  const { sql, env } = ports;
  const meta = readMeta(sql);
  const from = notesState(sql);
  const memory = turnMemory(env, meta, meta.id, meta.memory);
  let upTo = lastMessage(sql);
  let prefix = await forkPrefix(ports, meta, memory);
  // What joined the turn while the prompt was looked up belongs to it.
  while (lastMessage(sql) !== upTo) {
    upTo = lastMessage(sql);
    prefix = await forkPrefix(ports, meta, memory);
  }
  // The next answer has come, and asks for tools: it is looked at with their results.
  if (prefix.messages.at(-1)?.content.some(({ type }) => type === "tool_use")) return;
  if (tooLarge(ports, prefix, from.text)) {
    log("notes.too_large", { turn: turn.n });
    return;
  }
  if (await ports.overBudget()) return skip(ports, turn);
  const copy = await copyNotes(from.text, prefix.tools, ports.now);
  if (signal.aborted) return;
  const run = begin(ports, turn, from.text);
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), NOTES_UPDATE_MS);
  let outcome = "failed";
  try {
    const cut = AbortSignal.any([signal, late.signal]);
    const fork = runFork(
      prefix,
      { purpose: NOTES_PURPOSE, sessionId: meta.id },
      run,
      {
        ...loopSurroundings(ports.settings, meta.model, {
          iterations: NOTES_ITERATIONS,
          attempts: FORK_MODEL_ATTEMPTS,
        }),
        tools: copy.tools,
      },
      cut,
    );
    let step = await fork.next();
    while (!step.done) {
      record(ports, meta, run, step.value);
      step = await fork.next();
    }
    if (cut.aborted) outcome = late.signal.aborted ? "failed" : "interrupted";
    else if (forkSucceeded(step.value)) {
      const text = await copy.read();
      outcome = finish(ports, turn, run, { from, upTo, text, reason: step.value.reason }, signal);
    } else outcome = step.value.reason === "wait" ? "failed" : step.value.reason;
  } finally {
    clearTimeout(timer);
    end(ports, run, outcome);
  }
}

/** Notes that a person made larger than a small window: nobody could be shown them. */
function tooLarge(ports: NotesPorts, prefix: ForkPrefix, notes: string): boolean {
  const { room } = limitsOf(ports.settings, prefix.model);
  const { ratio } = readContext(ports.sql);
  const tokens =
    fixedTokens(prefix.system, prefix.tools) +
    messageTokens(prefix.messages) +
    textTokens(notesPrompt(notes, NOTES_ITERATIONS));
  return tokens * Math.min(1, ratio) > room;
}

/** What a fork that ended well has made of the notes that it began with. */
interface Made {
  from: NotesState;
  upTo: number;
  text: string;
  reason: string;
}

/** The one step in which an update becomes part of the session; gives back how its run ended. */
function finish(
  ports: NotesPorts,
  turn: NotesTurn,
  run: Run,
  { from, upTo, text, reason }: Made,
  signal: AbortSignal,
): string {
  const { sql } = ports;
  let outcome = reason;
  ports.commit(() => {
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
    const now = ports.now();
    moveMark(sql, from, upTo);
    const sections = changedSections(from.text, text);
    if (text === from.text) outcome = "nothing_new";
    else {
      writeText(sql, text, now);
      const tokens = textTokens(text);
      const turn_id = turn.eventId;
      appendEvent(sql, { type: "session_memory.updated", tokens, sections, turn_id }, now);
    }
    endRun(sql, run.n, outcome, now);
  });
  return outcome;
}

/** Tells of it once a turn, however many of its answers make the notes due. */
function skip(ports: NotesPorts, turn: NotesTurn): void {
  const { sql } = ports;
  if (notesState(sql).skippedTurn === turn.n) return;
  ports.commit(() => {
    noteSkipped(sql, turn.n);
    appendEvent(
      sql,
      { type: "memory.skipped", by: NOTES_PURPOSE, reason: "budget", turn_id: turn.eventId },
      ports.now(),
    );
  });
}

function begin(ports: NotesPorts, turn: NotesTurn, notes: string): Run {
  const { sql } = ports;
  const fork = newFork(notesPrompt(notes, NOTES_ITERATIONS));
  return beginRun(sql, NOTES_PURPOSE, { first: turn.n, last: turn.n }, fork, ports.now());
}

/** What a fork that was cut off still says was paid for all the same. */
function record(ports: NotesPorts, meta: Meta, run: Run, step: LoopStep): void {
  if (step.type === "preview" || step.type === "request_started") return;
  ports.commit(() => {
    if (isUnfinished(ports.sql, run.n)) recordRunStep(ports.sql, run.n, step, []);
    addStepUsage(ports.sql, NOTES_PURPOSE, meta.model, step, ports.now());
  });
}

/** Ends a run that has no end yet. An object that is gone has no rows to write it to. */
function end(ports: NotesPorts, run: Run, outcome: string): void {
  try {
    ports.commit(() => {
      if (isUnfinished(ports.sql, run.n)) endRun(ports.sql, run.n, outcome, ports.now());
    });
  } catch (error) {
    log("notes.end_not_written", { error: errorName(error) });
  }
}
