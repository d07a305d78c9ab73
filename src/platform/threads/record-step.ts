// The only recorder: writes a step of a loop to the rows of its thread.

import type { AnsweredStep, LoopStep, RecordedStep, TurnState } from "../../shared/loop/steps.ts";
import { MODEL, REMINDER } from "../../shared/thread/entry.ts";
import type { Message } from "../../shared/thread/messages.ts";
import {
  addCall,
  closingResults,
  dropCalls,
  finishCall,
  pendingCalls,
  planCall,
  storedCalls,
} from "./calls.ts";
import { appendEntry } from "./entries.ts";
import { changeProgress, readProgress } from "./progress.ts";
import { noteRead } from "./read-files.ts";
import { storeResult } from "./stored-results.ts";
import type { Thread } from "./thread.ts";
import { readMessages } from "./view.ts";

/**
 * Writes one step of a turn. Within a transaction: a step is on disk as a whole or not at all.
 */
export function recordStep(thread: Thread, turn: number, step: RecordedStep, now: number): void {
  switch (step.type) {
    case "request_started":
      return;
    case "request_failed":
      changeProgress(thread, turn, { attempt: step.attempt, outcome: storedOutcome(step) });
      return;
    case "answered":
      recordAnswer(thread, turn, step);
      return;
    case "call_planned":
      planCall(thread, step.callId, step.plan);
      return;
    case "call_finished":
      finishCall(thread, step.callId, step.result, step.stored?.path);
      noteRead(thread, step.result.notes);
      if (step.stored) storeResult(thread, step.stored, now);
      return;
    case "results":
      appendResults(thread, turn, step.message);
      return;
    case "joined":
      appendEntry(thread, turn, step);
      return;
    case "interrupted":
      if (step.text.trim() !== "") appendEntry(thread, turn, partialAnswer(step.text));
      appendEntry(thread, turn, { origin: { type: "interrupt" }, message: step.mark });
      changeProgress(thread, turn, { outcome: step.outcome });
      return;
  }
}

/** A turn as it is on disk, to start it or to continue it. */
export function readTurn(thread: Thread, turn: number): TurnState {
  const { iteration, attempt, continuations } = readProgress(thread, turn);
  const written = readMessages(thread);
  const messages =
    written.length === 0 && thread.opening ? [thread.opening.draft.message] : written;
  return { messages, pending: pendingCalls(thread), iteration, attempt, continuations };
}

/**
 * Gives each open call of a turn that fails a result, so that the next request is valid. Within a
 * transaction.
 */
export function closeCalls(thread: Thread, turn: number, otherwise: string): void {
  const content = closingResults(thread, otherwise);
  if (content.length > 0) appendResults(thread, turn, { role: "user", content });
}

function recordAnswer(thread: Thread, turn: number, step: AnsweredStep): void {
  const { message, continuation, calls, outcome } = step;
  if (message) appendEntry(thread, turn, { origin: MODEL, message });
  if (continuation) appendEntry(thread, turn, { origin: REMINDER, message: continuation });
  for (const state of calls) addCall(thread, state);
  const { iteration, continuations } = readProgress(thread, turn);
  changeProgress(thread, turn, {
    iteration: iteration + 1,
    attempt: 0,
    continuations: continuations + (continuation ? 1 : 0),
    outcome,
  });
}

function appendResults(thread: Thread, turn: number, message: Message): void {
  const origin = { type: "results" as const, stored: storedCalls(thread) };
  appendEntry(thread, turn, { origin, message });
  dropCalls(thread);
}

function partialAnswer(text: string) {
  const message: Message = { role: "assistant", content: [{ type: "text", text }] };
  return { origin: MODEL, message };
}

/** The outcome to store: a turn that pauses has none yet. */
function storedOutcome({ outcome }: Extract<LoopStep, { type: "request_failed" }>) {
  return outcome?.reason === "failed" ? outcome : undefined;
}
