// From a step of the loop to rows and events. Each step is one transaction: either all of it is on
// disk, or the step has not happened.

import type { Receipt } from "../../../src/platform/objects/memdir-rpc.ts";
import {
  addCall,
  dropCalls,
  finishCall,
  noteSeen,
  planCall,
} from "../../../src/platform/threads/calls.ts";
import { appendMessage } from "../../../src/platform/threads/entries.ts";
import type { TurnEventDraft } from "../../../src/shared/events/event.ts";
import { savedEvent } from "../../../src/shared/events/memory.ts";
import { APPROVAL_TIMEOUT_MS, CUSTOM_TOOL_TIMEOUT_MS } from "../../../src/shared/limits/tools.ts";
import type { AssistantBlock } from "../../../src/shared/loop/messages.ts";
import type { Usage } from "../../../src/shared/loop/model.ts";
import { NO_USAGE } from "../../../src/shared/loop/model.ts";
import type { AnsweredStep, CallState, LoopStep } from "../../../src/shared/loop/steps.ts";
import { failureError, problemError } from "../contract/session-errors.ts";
import { appendEvent } from "../rows/events.ts";
import { markWrote } from "../rows/extraction-state.ts";
import { countAnswer } from "../rows/notes.ts";
import type { WaitLimits } from "../rows/pending-actions.ts";
import { addWait, settleWait } from "../rows/pending-actions.ts";
import { keepResult } from "../rows/stored-results.ts";
import type { Turn } from "../rows/turns.ts";
import { changeTurn, turnByNumber } from "../rows/turns.ts";
import { addUsage } from "../rows/usage.ts";
import type { Preview } from "../stream/preview.ts";

export interface Recording {
  sql: SqlStorage;
  turn: number;
  turnId: string;
  model: string;
  /** Ids that previews have announced for the answer that is being given. */
  preview: Preview;
  /** Changes of memory that are on disk and come with this step. */
  saved?: { storeId: string; receipts: readonly Receipt[] } | undefined;
  /** How long a call may wait for its answer; the service's own limits where it is left out. */
  waits?: WaitLimits;
  now: number;
}

/** Writes one step. To be called within a transaction. */
export function recordStep(to: Recording, step: Exclude<LoopStep, { type: "preview" }>): void {
  const { sql, turn } = to;
  switch (step.type) {
    case "request_started": {
      const span = event(to, { type: "span.model_request_start" });
      changeTurn(sql, turn, { span });
      return;
    }
    case "request_failed":
      endFailed(to, step.failure.usage);
      event(to, { type: "session.error", error: failureError(step.failure, step.outcome?.reason) });
      changeTurn(sql, turn, {
        attempt: step.attempt,
        ...(step.next.action === "wait" ? { resumeAt: to.now + step.next.ms } : {}),
        ...(step.outcome?.reason === "failed" ? { outcome: step.outcome } : {}),
      });
      return;
    case "answered":
      recordAnswer(to, step);
      return;
    case "call_planned":
      planCall(sql, turn, step.callId, step.plan);
      return;
    case "call_finished": {
      const { content, isError, notes } = step.result;
      const toolUse = finishCall(sql, turn, step.callId, step.result);
      noteSeen(sql, notes);
      if (step.whole) keepResult(sql, step.whole.path, step.whole.content, to.now);
      const told = settleWait(sql, turn, step.callId) || toolUse === "";
      if (!told) {
        event(to, {
          type: "agent.tool_result",
          tool_use_id: toolUse,
          content: [{ type: "text", text: content }],
          is_error: isError,
        });
      }
      recordSaved(to);
      return;
    }
    case "results":
      appendMessage(sql, turn, step.message);
      dropCalls(sql, turn);
      return;
    case "joined":
      appendMessage(sql, turn, step.message);
      return;
    case "interrupted":
      if (step.said.trim() !== "") {
        const text: AssistantBlock = { type: "text", text: step.said };
        appendMessage(sql, turn, { role: "assistant", content: [text] });
        messageEvent(to, [text]);
      }
      endFailed(to, step.usage);
      appendMessage(sql, turn, step.mark);
      changeTurn(sql, turn, { outcome: step.outcome });
      return;
  }
}

/** Tells of memories that were saved: only what is on disk has a receipt. */
export function recordSaved(to: Recording): void {
  if (!to.saved || to.saved.receipts.length === 0) return;
  markWrote(to.sql, to.turn);
  event(to, savedEvent("agent", to.saved.storeId, to.saved.receipts));
}

/** Closes the request that a crash left open. */
export function closeSpan(to: Recording): void {
  endSpan(to, NO_USAGE, true);
}

function recordAnswer(to: Recording, step: AnsweredStep): void {
  const { sql, turn } = to;
  const blocks = step.message?.role === "assistant" ? step.message.content : [];
  if (blocks.some((block) => block.type === "thinking" || block.type === "redacted_thinking")) {
    event(to, { type: "agent.thinking", id: to.preview.thinkingId() });
  }
  messageEvent(to, blocks);
  for (const state of step.calls) announceCall(to, state);
  if (step.message) appendMessage(sql, turn, step.message);
  if (step.continuation) appendMessage(sql, turn, step.continuation);
  endSpan(to, step.usage, false);
  addUsage(sql, "main", to.model, step.usage, to.now);
  countAnswer(sql, step.usage, step.calls.length);
  if (step.problem) event(to, { type: "session.error", error: problemError(step.problem) });
  const before = turnByNumber(sql, turn);
  changeTurn(sql, turn, {
    iteration: before.iteration + 1,
    attempt: 0,
    continuations: before.continuations + (step.continuation ? 1 : 0),
    ...(step.outcome ? { outcome: step.outcome } : {}),
  });
}

/** Tells of a call, and keeps until when its answer is waited for, where it needs one. */
function announceCall(to: Recording, state: CallState): void {
  const { sql, turn } = to;
  const { id: callId, name, input } = state.call;
  const forClient = state.permission === "client";
  // What cannot be read is answered here; nobody is asked to run it.
  if (forClient && state.malformed !== undefined) {
    addCall(sql, turn, "", state);
    return;
  }
  const kind = forClient ? "client" : state.permission === "ask" ? "approval" : undefined;
  const limits = to.waits ?? { approval: APPROVAL_TIMEOUT_MS, client: CUSTOM_TOOL_TIMEOUT_MS };
  const until = kind && to.now + limits[kind];
  const expires_at = until === undefined ? undefined : new Date(until).toISOString();
  const eventId = event(
    to,
    state.permission === "client"
      ? { type: "agent.custom_tool_use", name, input, expires_at }
      : {
          type: "agent.tool_use",
          name,
          input,
          evaluated_permission: state.permission ?? "allow",
          expires_at,
        },
  );
  addCall(sql, turn, eventId, state);
  if (kind && until !== undefined) {
    addWait(sql, { eventId, turn, callId, kind, until }, to.now);
  }
}

function messageEvent(to: Recording, blocks: readonly AssistantBlock[]): void {
  const content = blocks.filter((block) => block.type === "text");
  if (content.length === 0) return;
  event(to, { type: "agent.message", content, id: to.preview.messageId() });
}

/** What broke off has its price all the same. */
function endFailed(to: Recording, usage: Usage | undefined): void {
  endSpan(to, usage ?? NO_USAGE, true);
  if (usage) addUsage(to.sql, "main", to.model, usage, to.now);
}

function endSpan(to: Recording, usage: Usage, isError: boolean): void {
  const { span }: Turn = turnByNumber(to.sql, to.turn);
  if (span === undefined) return;
  const { input, cacheRead, cacheCreation, output } = usage;
  event(to, {
    type: "span.model_request_end",
    model_request_start_id: span,
    is_error: isError,
    model_usage: {
      input_tokens: input,
      cache_read_input_tokens: cacheRead,
      cache_creation_input_tokens: cacheCreation,
      output_tokens: output,
    },
  });
  changeTurn(to.sql, to.turn, { span: undefined });
}

/** Appends an event of this turn. */
function event(to: Recording, draft: TurnEventDraft) {
  return appendEvent(to.sql, { ...draft, turn_id: to.turnId }, to.now).id;
}
