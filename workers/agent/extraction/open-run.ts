// The beginning of an extraction run: what it is shown, and what it knows of then. A run that is gone on
// with keeps both.

import { unwrap } from "../../../src/platform/objects/reply.ts";
import { lastEntry, lastEntryOf } from "../../../src/platform/threads/entries.ts";
import { readFiles } from "../../../src/platform/threads/read-files.ts";
import type { Thread } from "../../../src/platform/threads/thread.ts";
import type { Batch } from "../../../src/shared/extraction/batch.ts";
import { extractionPrompt } from "../../../src/shared/extraction/prompt.ts";
import {
  EXTRACTION_ITERATIONS,
  LATER_IN_TASK_CHARACTERS,
  LATER_TURNS,
} from "../../../src/shared/limits/extraction.ts";
import { SCAN_FILES } from "../../../src/shared/limits/memory.ts";
import { timeInWords } from "../../../src/shared/text/local-time.ts";
import { takeFirstTry } from "../rows/extraction-state.ts";
import type { Run } from "../rows/runs.ts";
import { beginRun, changeStart, countStart, unfinishedRun, withTask } from "../rows/runs.ts";
import { currentTurn, newestTurn, turnByNumber, turnsAfter, userWords } from "../rows/turns.ts";
import type { Conversation } from "../setup/conversation.ts";
import type { SharedPrefix } from "../setup/fork-prefix.ts";
import { forkPrefix } from "../setup/fork-prefix.ts";
import type { TurnMemory } from "../setup/memory.ts";
import type { SessionContext } from "../setup/session-context.ts";
import type { Lease } from "./extraction-lease.ts";
import { textOf } from "./last-word.ts";

/** A conversation whose memory is written under the fork's lease. */
export interface Extracted extends Conversation {
  memory: TurnMemory;
}

/** The run that has begun and not ended: its task is on disk with its first entry. */
export function runToGoOn(sql: SqlStorage): Run | undefined {
  const begun = unfinishedRun(sql, "extraction");
  return begun && lastEntry(begun.thread) > 0 ? begun : undefined;
}

export interface Opened {
  run: Run;
  prefix: SharedPrefix;
  /** How often the process died since its last step. */
  deaths: number;
}

/**
 * The run that is to be gone on with, or a new one over these turns. A new one is shown all turns that have
 * ended, and knows the files that its parent knows now; one that is gone on with, what it was shown then.
 */
export async function openRun(
  { sql, commit, now }: SessionContext,
  of: Extracted,
  lease: Lease,
  due: Batch,
): Promise<Opened> {
  const running = runToGoOn(sql);
  if (running) {
    const { firstTurn: first, lastTurn: last, start } = running;
    const prefix = forkPrefix(of, { upToTurn: start?.shownTo ?? last, fromTurn: first });
    return { run: running, prefix, deaths: commit(() => countStart(sql, "extraction")) };
  }
  const known = unwrap(await lease.stub.scan(SCAN_FILES));
  const begun = unfinishedRun(sql, "extraction");
  const turns = begun ? { first: begun.firstTurn, last: begun.lastTurn } : due;
  // From here on to the run's row nothing else happens: what the user says later is later.
  const { prefix, shownTo } = shownTurns(sql, of, turns);
  const { heard, later } = laterIn(sql, shownTo);
  const start = { since: lease.at, shownTo, heard, told: heard };
  const task = extractionPrompt({
    directory: of.memory.directory,
    from: { words: wordsOf(sql, turns.first), fromEnd: shownTo - turns.first + 1 },
    until: wordsAfter(sql, of.thread, turns.last, shownTo),
    later,
    known,
    iterations: EXTRACTION_ITERATIONS,
    time: timeInWords(now(), of.meta.timeZone),
  });
  const files = readFiles(of.thread);
  if (begun) {
    const deaths = commit(() => {
      changeStart(sql, begun, start);
      return countStart(sql, "extraction");
    });
    return { run: withTask({ ...begun, start }, task, files), prefix, deaths };
  }
  const begin = (how: "write" | "note") => beginRun(sql, "extraction", due, now(), how, start);
  const run = takeFirstTry(sql) ? begin("note") : commit(() => begin("write"));
  return { run: withTask(run, task, files), prefix, deaths: 0 };
}

/**
 * All turns that have ended, where they fit word for word from the first one of these on; else these. A
 * turn that runs is not among them: its parent's cache does not have it yet.
 */
function shownTurns(sql: SqlStorage, of: Extracted, { first, last }: Batch) {
  const ended = (currentTurn(sql)?.n ?? newestTurn(sql) + 1) - 1;
  // What waits for a model that is out may be thousands of turns: they are not read to learn that.
  if (ended > last && !areFew(sql, { first, last: ended }, of.limits.compactAt)) {
    return { prefix: forkPrefix(of, { upToTurn: last, fromTurn: first }), shownTo: last };
  }
  const all = forkPrefix(of, { upToTurn: Math.max(ended, last), fromTurn: first });
  if (all.whole || ended <= last) return { prefix: all, shownTo: Math.max(ended, last) };
  return { prefix: forkPrefix(of, { upToTurn: last, fromTurn: first }), shownTo: last };
}

/** Whether these turns have no more than so many tokens, by their own count. */
function areFew(sql: SqlStorage, { first, last }: Batch, most: number): boolean {
  const rows = sql
    .exec<{ tokens: number }>(
      "SELECT tokens FROM turns WHERE n >= ? AND n <= ? ORDER BY n LIMIT ?",
      first,
      last,
      LATER_TURNS,
    )
    .toArray();
  const tokens = rows.reduce((sum, row) => sum + row.tokens, 0);
  return rows.length < LATER_TURNS && tokens <= most;
}

/** What the user said after these turns, where the task has room for it: else a write learns it. */
function laterIn(sql: SqlStorage, shownTo: number): { heard: number; later: string[] } {
  const turns = turnsAfter(sql, shownTo, LATER_TURNS);
  const later = turns.map((turn) => textOf(userWords(sql, turn)));
  const characters = later.reduce((sum, { length }) => sum + length, 0);
  if (characters > LATER_IN_TASK_CHARACTERS || turns.length === LATER_TURNS)
    return { heard: shownTo, later: [] };
  return { heard: turns.at(-1)?.n ?? shownTo, later };
}

/** What the next turn begins with, if it is shown. A turn that joined another one has no entries. */
function wordsAfter(
  sql: SqlStorage,
  thread: Thread,
  last: number,
  shownTo: number,
): string | undefined {
  const end = lastEntryOf(thread, last);
  for (let turn = last + 1; turn <= shownTo; turn += 1) {
    if (lastEntryOf(thread, turn) > end) return wordsOf(sql, turn);
  }
  return undefined;
}

function wordsOf(sql: SqlStorage, turn: number): string {
  return textOf(userWords(sql, turnByNumber(sql, turn)));
}
