// The events of a turn's steps. Each is on disk with its step.

import { announceCall, announcedAs } from "../../../src/platform/threads/calls.ts";
import type { TurnEventDraft } from "../../../src/shared/events/event.ts";
import type { Usage } from "../../../src/shared/loop/model.ts";
import { NO_USAGE } from "../../../src/shared/loop/model.ts";
import type { AnsweredStep, CallState, RecordedStep } from "../../../src/shared/loop/steps.ts";
import type { AssistantBlock } from "../../../src/shared/thread/messages.ts";
import type { TurnHook } from "../../../src/shared/turn/hooks.ts";
import { failureError, problemError } from "../contract/session-errors.ts";
import { announcedId, appendEvent } from "../rows/events.ts";
import { addPendingAction, closeAction } from "../rows/pending-actions.ts";
import { mainThread } from "../rows/session-threads.ts";
import { changeTurn, turnByNumber } from "../rows/turns.ts";
import type { TurnRef } from "../setup/conversation.ts";
import type { SessionContext } from "../setup/session-context.ts";
import { createPreview } from "../stream/preview.ts";

type Context = Pick<SessionContext, "sql" | "settings" | "preview">;

export function eventsHook(session: Context, turn: TurnRef): TurnHook {
  const { sql } = session;
  const thread = mainThread(sql);
  const newId = () => announcedId(sql);
  let preview = createPreview(newId);
  /** When the step that is being recorded happened. */
  let now = 0;
  const event = (draft: TurnEventDraft) =>
    appendEvent(sql, { ...draft, turn_id: turn.eventId }, now).id;

  function record(step: RecordedStep, at: number): void {
    now = at;
    switch (step.type) {
      case "request_started":
        preview = createPreview(newId);
        changeTurn(sql, turn.n, { span: event({ type: "span.model_request_start" }) });
        return;
      case "request_failed":
        closeSpan(sql, turn, { usage: step.failure.usage }, now);
        event({
          type: "session.error",
          error: failureError(step.failure, step.outcome?.reason),
        });
        // The session shows until when it waits.
        if (step.next.action !== "pause") return;
        changeTurn(sql, turn.n, { resumeAt: now + step.next.ms });
        return;
      case "answered":
        answered(step);
        return;
      case "call_finished": {
        const { content, isError } = step.result;
        const toolUse = announcedAs(thread, step.callId);
        const byClient = closeAction(sql, turn.n, step.callId);
        if (byClient || toolUse === undefined) return;
        event({
          type: "agent.tool_result",
          tool_use_id: toolUse,
          content: [{ type: "text", text: content }],
          is_error: isError,
        });
        return;
      }
      case "interrupted":
        if (step.text.trim() !== "") message([{ type: "text", text: step.text }]);
        closeSpan(sql, turn, { usage: step.usage }, now);
        return;
      case "call_planned":
      case "results":
      case "joined":
        return;
    }
  }

  function answered({ message: answer, calls, usage, problem }: AnsweredStep): void {
    const blocks = answer?.role === "assistant" ? answer.content : [];
    if (blocks.some(({ type }) => type === "thinking" || type === "redacted_thinking")) {
      event({ type: "agent.thinking", id: preview.thinkingId() });
    }
    message(blocks);
    for (const state of calls) announce(state);
    closeSpan(sql, turn, { usage, isError: false }, now);
    if (problem) event({ type: "session.error", error: problemError(problem) });
  }

  function message(blocks: readonly AssistantBlock[]): void {
    const content = blocks.filter((block) => block.type === "text");
    if (content.length === 0) return;
    event({ type: "agent.message", content, id: preview.messageId() });
  }

  /** The event of a call; where it needs an answer, a pending action with its deadline. */
  function announce({ call, permission, malformed }: CallState): void {
    const { id: callId, name, input } = call;
    const forClient = permission === "client";
    // What cannot be read is answered here; nobody is asked to run it.
    if (forClient && malformed !== undefined) return;
    const kind = forClient ? "client" : permission === "ask" ? "approval" : undefined;
    const { APPROVAL_TIMEOUT_MS, CUSTOM_TOOL_TIMEOUT_MS } = session.settings;
    const ms = { approval: APPROVAL_TIMEOUT_MS, client: CUSTOM_TOOL_TIMEOUT_MS };
    const until = kind && now + ms[kind];
    const expires_at = until === undefined ? undefined : new Date(until).toISOString();
    const eventId = forClient
      ? event({ type: "agent.custom_tool_use", name, input, expires_at })
      : event({
          type: "agent.tool_use",
          name,
          input,
          evaluated_permission: permission ?? "allow",
          expires_at,
        });
    announceCall(thread, callId, eventId);
    if (kind && until !== undefined) {
      addPendingAction(sql, { eventId, turn: turn.n, callId, kind, until }, now);
    }
  }

  return { record, preview: (event) => session.preview(preview.frames(event)) };
}

/** Ends the model request that is open, if one is: what broke off has its price all the same. */
export function closeSpan(
  sql: SqlStorage,
  turn: TurnRef,
  { usage = NO_USAGE, isError = true }: { usage?: Usage | undefined; isError?: boolean },
  now: number,
): void {
  const { span } = turnByNumber(sql, turn.n);
  if (span === undefined) return;
  const { input, cacheRead, cacheCreation, output } = usage;
  appendEvent(
    sql,
    {
      type: "span.model_request_end",
      model_request_start_id: span,
      is_error: isError,
      model_usage: {
        input_tokens: input,
        cache_read_input_tokens: cacheRead,
        cache_creation_input_tokens: cacheCreation,
        output_tokens: output,
      },
      turn_id: turn.eventId,
    },
    now,
  );
  changeTurn(sql, turn.n, { span: undefined });
}
