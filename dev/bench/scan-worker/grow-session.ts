// Turns that were never talked: the rows of each are written by what writes those of a real one, in the
// same order, only without a model and many in one transaction.

import { lastEntry, lastEntryOf } from "../../../src/platform/threads/entries.ts";
import { recordStep } from "../../../src/platform/threads/record-step.ts";
import { changeSize } from "../../../src/platform/threads/size.ts";
import { writeView } from "../../../src/platform/threads/view.ts";
import type { AgentSettings } from "../../../src/platform/variables.ts";
import { boundaryEntry } from "../../../src/shared/compaction/boundary.ts";
import type { RecordedStep } from "../../../src/shared/loop/steps.ts";
import { appendEvent } from "../../../workers/agent/rows/events.ts";
import {
  advanceCursor,
  changeExtraction,
  readExtraction,
} from "../../../workers/agent/rows/extraction-state.ts";
import { rebaseNotes } from "../../../workers/agent/rows/notes.ts";
import { mainThread } from "../../../workers/agent/rows/session-threads.ts";
import type { Turn } from "../../../workers/agent/rows/turns.ts";
import { currentTurn } from "../../../workers/agent/rows/turns.ts";
import { addUsage } from "../../../workers/agent/rows/usage.ts";
import { acceptEvent } from "../../../workers/agent/turn/accept-event.ts";
import { eventsHook } from "../../../workers/agent/turn/events-hook.ts";
import { finishTurn, startTurn } from "../../../workers/agent/turn/finish-turn.ts";

export interface Growth {
  turns: number;
  /** Whether an extraction has seen them; else they are due, as after a long outage or over budget. */
  extracted: boolean;
  /** Characters of the tool's result. */
  resultSize: number;
  model: string;
}

/** Turns between two compactions: what a window of some 64,000 tokens takes of turns of 26 KB. */
const COMPACT_EVERY = 5;
/** Whole turns that a compaction leaves. */
const KEPT = 2;
const SUMMARY = "The boats are counted and the tide is noted. ".repeat(45);
const WORDS = "The harbour master counts the boats that come in with the tide. ".repeat(16);
const USAGE = { input: 200, cacheRead: 20_000, cacheCreation: 7_000, output: 300 };

/** Adds turns to a session that rests. Within a transaction, and in pieces: one holds all it writes. */
export function growSession(sql: SqlStorage, settings: AgentSettings, growth: Growth): void {
  const { cursor, due } = readExtraction(sql);
  for (let n = 0; n < growth.turns; n += 1) addTurn(sql, settings, growth);
  compact(sql, lastTurnOf(sql));
  if (!growth.extracted) changeExtraction(sql, { cursor, due: due + growth.turns });
}

function addTurn(sql: SqlStorage, settings: AgentSettings, growth: Growth): void {
  const now = Date.now();
  const content = [{ type: "text" as const, text: WORDS }];
  acceptEvent(sql, { type: "user.message", content }, now);
  const turn = currentTurn(sql);
  if (!turn) throw new Error("The turn was not queued");
  startTurn(sql, turn, now);
  const thread = mainThread(sql);
  const hook = eventsHook({ sql, settings, preview: () => {} }, turn);
  for (const step of stepsOf(turn, growth)) {
    recordStep(thread, turn.n, step, now);
    hook.record?.(step, now);
    if (step.type === "answered") addUsage(sql, "main", growth.model, step.usage, now);
  }
  finishTurn(
    sql,
    turn.n,
    { reason: "end_turn" },
    { everyTurns: settings.EXTRACTION_EVERY_TURNS, overBudget: false },
    now,
  );
  // Each at once, so that the marks are made in the time of one.
  if (settings.EXTRACTION_EVERY_TURNS > 0) advanceCursor(sql, turn.n, now);
  if (turn.n % COMPACT_EVERY === 0) compact(sql, turn);
}

function stepsOf({ n }: Turn, { model, resultSize }: Growth): RecordedStep[] {
  const id = `toolu_bench${String(n).padStart(10, "0")}`;
  const call = {
    type: "tool_use" as const,
    id,
    name: "Read",
    input: { file_path: `/workspace/growth/grown-${n}.txt` },
  };
  const text = (words: string) => ({ type: "text" as const, text: words });
  const result = `${n}\t${"What is known of one more boat in the harbour, and of its tide.\n".repeat(Math.ceil(resultSize / 64))}`;
  return [
    { type: "request_started", model },
    {
      type: "answered",
      message: { role: "assistant", content: [text("I look it up."), call] },
      calls: [{ call, permission: "allow" }],
      usage: USAGE,
    },
    {
      type: "call_finished",
      callId: id,
      result: { content: result, isError: false, notes: [] },
    },
    {
      type: "results",
      message: {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: id, content: result }],
      },
    },
    { type: "request_started", model },
    {
      type: "answered",
      message: { role: "assistant", content: [text(WORDS)] },
      calls: [],
      usage: USAGE,
      outcome: { reason: "end_turn" },
    },
  ];
}

/** What a compaction writes: all but the newest turns is replaced by a summary. */
function compact(sql: SqlStorage, turn: Pick<Turn, "n" | "eventId">): void {
  const thread = mainThread(sql);
  const cut = lastEntryOf(thread, turn.n - KEPT);
  const last = lastEntry(thread);
  const head = [boundaryEntry(SUMMARY, [], undefined)];
  writeView(thread, { cut, head, results: 0, thinking: last });
  changeSize(thread, { counted: null, upTo: 0, shrinkFrom: 0, compactFrom: 0 });
  rebaseNotes(sql, 20_000);
  appendEvent(
    sql,
    {
      type: "agent.thread_context_compacted",
      turn_id: turn.eventId,
      trigger: "auto",
      tokens_before: 50_000,
      tokens_after: 20_000,
      used_notes: false,
    },
    Date.now(),
  );
}

function lastTurnOf(sql: SqlStorage): { n: number; eventId: string } {
  return sql
    .exec<{ n: number; eventId: string }>(
      "SELECT n, event_id AS eventId FROM turns ORDER BY n DESC LIMIT 1",
    )
    .one();
}
