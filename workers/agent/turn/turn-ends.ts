import * as z from "zod";
import { closingResults, dropCalls } from "../../../src/platform/threads/calls.ts";
import { appendMessage } from "../../../src/platform/threads/entries.ts";
import type { SessionError, StopReason } from "../../../src/shared/events/session.ts";
import type { Message } from "../../../src/shared/loop/messages.ts";
import type { LoopOutcome } from "../../../src/shared/loop/steps.ts";
import { iterationsError, refusalError, unexpectedError } from "../contract/session-errors.ts";
import { appendEvent } from "../rows/events.ts";
import type { BackgroundRules } from "../rows/extraction-state.ts";
import { endTurnMark } from "../rows/extraction-state.ts";
import { readMeta, writeMeta } from "../rows/meta.ts";
import { closeWaits } from "../rows/pending-actions.ts";
import type { Turn } from "../rows/turns.ts";
import { changeTurn, turnByNumber, waitingTurns } from "../rows/turns.ts";
import { usageSnapshot } from "../rows/usage.ts";
import { createPreview } from "../stream/preview.ts";
import { pauseTurn } from "./pause-turn.ts";
import { closeSpan } from "./record-step.ts";

/** The content of a user's message, as a turn's row holds it. */
export const messageContent = z.array(z.object({ type: z.literal("text"), text: z.string() }));

/**
 * Begins a turn, or goes on with one: its message joins the transcript the first time only. Within a
 * transaction.
 */
export function startTurn(sql: SqlStorage, turn: Turn, now: number): void {
  const resting = turn.resumeAt !== undefined;
  if (turn.status === "waiting") {
    const message: Message = {
      role: "user",
      content: messageContent.parse(JSON.parse(turn.content)),
    };
    appendMessage(sql, turn.n, message);
  }
  if (resting || (turn.status === "waiting" && !followsAnother(sql, turn))) {
    appendEvent(sql, { type: "session.status_running", turn_id: turn.eventId }, now);
  }
  changeTurn(sql, turn.n, {
    status: "running",
    resumeAt: undefined,
    startedAt: turn.startedAt ?? now,
  });
}

/**
 * Ends a turn, or pauses it where the outcome says so; an undefined outcome is a defect of ours.
 * The session is idle when nothing waits behind it. Within a transaction.
 */
export function finishTurn(
  sql: SqlStorage,
  n: number,
  outcome: LoopOutcome | undefined,
  background: BackgroundRules,
  now: number,
): void {
  const turn = turnByNumber(sql, n);
  const meta = readMeta(sql);
  const to = {
    sql,
    turn: n,
    turnId: turn.eventId,
    model: meta.model,
    preview: createPreview(),
    now,
  };
  const tell = (error: SessionError) =>
    appendEvent(sql, { type: "session.error", error, turn_id: turn.eventId }, now);
  if (outcome?.reason === "wait") {
    changeTurn(sql, n, { resumeAt: turn.resumeAt ?? now + outcome.ms });
    appendEvent(sql, { type: "session.status_rescheduled", turn_id: turn.eventId }, now);
    return;
  }
  if (outcome?.reason === "requires_action") {
    pauseTurn(sql, turn, now);
    return;
  }
  closeSpan(to);
  closeWaits(sql, n);
  if (!outcome) {
    closeCalls(sql, turn);
    tell(unexpectedError());
  }
  if (outcome?.reason === "iterations") tell(iterationsError(outcome.limit));
  if (outcome?.reason === "refusal") tell(refusalError());

  changeTurn(sql, n, { status: "done", outcome: outcome ?? { reason: "stopped" } });
  const activeMs = meta.activeMs + (turn.startedAt === undefined ? 0 : now - turn.startedAt);
  writeMeta(sql, { ...meta, activeMs, updatedAt: now });
  if (meta.memory.enabled) {
    // Step 12: what follows from the turn is on disk with its end.
    const reason = endTurnMark(sql, n, outcome, background, now);
    if (reason !== undefined) {
      const turn_id = turn.eventId;
      appendEvent(sql, { type: "memory.skipped", by: "extraction", reason, turn_id }, now);
    }
  }
  appendEvent(
    sql,
    { type: "session.usage", turn_id: turn.eventId, usage: usageSnapshot(sql), budget: null },
    now,
  );
  if (waitingTurns(sql) > 0) return;
  appendEvent(
    sql,
    {
      type: "session.status_idle",
      turn_id: turn.eventId,
      stop_reason: stopReason(outcome),
      stop_details: null,
    },
    now,
  );
}

/** A defect in the middle of tool calls: each gets a result, so that the next request is valid. */
function closeCalls(sql: SqlStorage, turn: Turn): void {
  const content = closingResults(
    sql,
    turn.n,
    "The turn failed before this call was done. Look before you try it again.",
  );
  if (content.length === 0) return;
  appendMessage(sql, turn.n, { role: "user", content });
  dropCalls(sql, turn.n);
}

function followsAnother(sql: SqlStorage, turn: Turn): boolean {
  // The session stays "running" from one queued turn to the next.
  const [row] = sql
    .exec<{ type: string }>(
      `SELECT type FROM events WHERE type IN ('session.status_running', 'session.status_idle',
         'session.status_rescheduled') ORDER BY seq DESC LIMIT 1`,
    )
    .toArray();
  return row?.type === "session.status_running" && turn.n > 1;
}

function stopReason(outcome: LoopOutcome | undefined): StopReason {
  switch (outcome?.reason) {
    case "end_turn":
    case "interrupted":
      return { type: "end_turn" };
    case "refusal":
      return { type: "refusal" };
    case "failed":
    case "stopped":
    case "iterations":
    case "wait":
    case "requires_action":
    case undefined:
      return { type: "retries_exhausted" };
  }
}
