import type { Draft } from "../thread/entry.ts";
import type { Message, ToolUseBlock } from "../thread/messages.ts";
import type { ModelEvent, ModelFailure, Usage } from "./model.ts";
import type { Permission } from "./pending-action.ts";
import type { RetryDecision } from "./retry.ts";
import type { ToolResult } from "./tool.ts";

/** One tool call of the last answer and its state. */
export interface CallState {
  call: ToolUseBlock;
  /** Why the input could not be parsed; such a call gets a result and never runs. */
  malformed?: string | undefined;
  /** Absent if nobody decides. `ask` and `client` make a pending action, also after a restart. */
  permission?: Permission | undefined;
  /** On disk: the plan of a writing tool. */
  plan?: string | undefined;
  result?: ToolResult | undefined;
}

/** A turn as it is read from disk, at its start or in its middle. */
export interface TurnState {
  /** The history up to the turn's user message or to a later message of the turn. */
  messages: Message[];
  /** The calls of the last answer, until their results are a message. */
  pending: CallState[];
  /** Answers of this turn. */
  iteration: number;
  /** Failed attempts of the model call that is due. */
  attempt: number;
  /** Answers of this turn that the token limit cut or that the model paused. */
  continuations: number;
}

/** A defect of an answer. The client gets it as an event. */
export interface Problem {
  kind: "output_limit" | "malformed_input" | "unknown_stop" | "context_window";
  message: string;
  /** Whether the turn continues by itself. */
  continues: boolean;
}

/**
 * What a loop yields. Each step but `preview` is recorded as a whole before the next one. A step that
 * ends the turn contains the outcome, so that a turn does not continue after a crash.
 */
export type LoopStep =
  | { type: "request_started"; model: string }
  | { type: "preview"; event: ModelEvent }
  | {
      type: "request_failed";
      failure: ModelFailure;
      /** Failed attempts of this call, this one included. */
      attempt: number;
      next: RetryDecision;
      outcome?: LoopOutcome | undefined;
    }
  | AnsweredStep
  | { type: "call_planned"; callId: string; plan: string }
  | {
      type: "call_finished";
      callId: string;
      result: ToolResult;
      /** If the result was cut: all of it, and the path of the file that will have it. */
      stored?: { path: string; content: string } | undefined;
    }
  /** All results of one answer, as one message. */
  | { type: "results"; message: Message }
  | ({ type: "joined" } & Draft)
  /** The user's interrupt, with the text of the partial answer. */
  | {
      type: "interrupted";
      text: string;
      mark: Message;
      /** Of the aborted request, if there was one. */
      usage?: Usage | undefined;
      outcome: LoopOutcome;
    };

export interface AnsweredStep {
  type: "answered";
  /** Undefined if nothing of the answer is kept. */
  message: Message | undefined;
  calls: CallState[];
  usage: Usage;
  problem?: Problem | undefined;
  /** The reminder that makes the model continue an answer that was cut or paused. */
  continuation?: Message | undefined;
  outcome?: LoopOutcome | undefined;
}

/**
 * Why a loop ended. Two outcomes pause the turn: after `paused` it continues in `ms` milliseconds,
 * after `requires_action` when the pending actions have their answers.
 */
export type LoopOutcome =
  | { reason: "end_turn" }
  | { reason: "interrupted" }
  | { reason: "refusal" }
  | { reason: "stopped" }
  | { reason: "failed" }
  | { reason: "iterations"; limit: number }
  | { reason: "paused"; ms: number }
  | { reason: "requires_action" };

/** A step that is recorded. */
export type RecordedStep = Exclude<LoopStep, { type: "preview" }>;

/**
 * Callbacks for the steps of a thread, called in the order of the thread's hooks. None may throw but
 * `record`, whose throw undoes the step and ends the run.
 */
export interface StepHook {
  /**
   * First in the transaction of a step: true where the thread ends with it, so that its rows are not
   * written. What comes of it is this hook's to write.
   */
  settles?: ((step: RecordedStep, now: number) => boolean) | undefined;
  /** Within the transaction that records a step, after its own rows. `now`: one moment for all of it. */
  record?: ((step: RecordedStep, now: number) => void) | undefined;
  /** After the step is on disk. */
  after?: ((step: RecordedStep) => void) | undefined;
  /** A stream event; never on disk. */
  preview?: ((event: ModelEvent) => void) | undefined;
  /** A step that comes after the run was stopped; it is not recorded. */
  dropped?: ((step: RecordedStep) => void) | undefined;
}

/** The tokens of the request that a step ends: it was answered, it failed or it was aborted. */
export function usageOf(step: LoopStep): Usage | undefined {
  if (step.type === "request_failed") return step.failure.usage;
  return step.type === "answered" || step.type === "interrupted" ? step.usage : undefined;
}
