import type { Draft } from "../thread/entry.ts";
import type { Message, ToolUseBlock } from "../thread/messages.ts";
import type { ModelEvent, ModelFailure, Usage } from "./model.ts";
import type { Permission } from "./pending-action.ts";
import type { NextTry } from "./retry.ts";
import type { ToolResult } from "./tool.ts";

/** One tool call of the last answer and how far it has come. */
export interface CallState {
  call: ToolUseBlock;
  /** Why the input could not be parsed; such a call is answered, never run. */
  malformed?: string | undefined;
  /** Absent where nobody decides. `ask` and `client` wait for an answer, also after a restart. */
  permission?: Permission | undefined;
  /** On disk: what a writing tool is about to do. */
  plan?: string | undefined;
  /** On disk: what it did. */
  result?: ToolResult | undefined;
}

/** A turn as it can be read from disk, at its start or in its middle. */
export interface TurnState {
  /** The history, ending with the turn's user message or with what followed it. */
  messages: Message[];
  /** The calls of the last answer, while their results are not yet a message. */
  pending: CallState[];
  /** Answers that the turn has had. */
  iteration: number;
  /** Failed tries of the model call that is due. */
  attempt: number;
  /** Answers of this turn that the token limit cut or that the model paused. */
  continuations: number;
}

/** Something that went wrong without ending the turn by itself; the client is told. */
export interface Problem {
  kind: "output_limit" | "malformed_input" | "unknown_stop" | "context_window";
  message: string;
  /** Whether the turn goes on by itself. */
  goesOn: boolean;
}

/**
 * What a loop yields. All but `preview` are recorded before the loop goes on, each whole: a step that
 * ends the turn carries the outcome, so that a crash after it cannot run the turn on.
 */
export type LoopStep =
  | { type: "request_started"; model: string }
  | { type: "preview"; event: ModelEvent }
  | {
      type: "request_failed";
      failure: ModelFailure;
      /** Failed tries of this call so far. */
      attempt: number;
      next: NextTry;
      outcome?: LoopOutcome | undefined;
    }
  | AnsweredStep
  | { type: "call_planned"; callId: string; plan: string }
  | {
      type: "call_finished";
      callId: string;
      result: ToolResult;
      /** Where the result is only the beginning: all of it, and the file that is to hold it. */
      stored?: { path: string; content: string } | undefined;
    }
  /** All results of one answer, as one message. */
  | { type: "results"; message: Message }
  | ({ type: "joined" } & Draft)
  /** The user's interrupt, with what had been said until then. */
  | {
      type: "interrupted";
      text: string;
      mark: Message;
      /** Of the request that was broken off, where one was. */
      usage?: Usage | undefined;
      outcome: LoopOutcome;
    };

export interface AnsweredStep {
  type: "answered";
  /** Absent where the answer had nothing worth keeping. */
  message: Message | undefined;
  calls: CallState[];
  usage: Usage;
  problem?: Problem | undefined;
  /** Where the token limit cut the answer: what asks the model to go on. */
  continuation?: Message | undefined;
  outcome?: LoopOutcome | undefined;
}

/**
 * Why a turn ended. Two are pauses: after `wait` the turn is to be run again in so many milliseconds,
 * after `requires_action` when the calls that wait have their answers.
 */
export type LoopOutcome =
  | { reason: "end_turn" }
  | { reason: "interrupted" }
  | { reason: "refusal" }
  | { reason: "stopped" }
  | { reason: "failed" }
  | { reason: "iterations"; limit: number }
  | { reason: "wait"; ms: number }
  | { reason: "requires_action" };

/** A step that is recorded. */
export type RecordedStep = Exclude<LoopStep, { type: "preview" }>;

/**
 * What cares for the steps of a thread. Every moment is optional. Those of one thread are called in
 * their order; none may throw but `record`, whose throw undoes the step and ends the run.
 */
export interface StepHook {
  /** Within the transaction that records a step, after its own rows. */
  record?: ((step: RecordedStep) => void) | undefined;
  /** The step is on disk. */
  after?: ((step: RecordedStep) => void) | undefined;
  /** What the model says while it speaks; never on disk. */
  preview?: ((event: ModelEvent) => void) | undefined;
  /** What a run that was cut off still came to: it is not recorded. */
  dropped?: ((step: RecordedStep) => void) | undefined;
}

/** The tokens of the request that a step ends, whether it was answered, failed or was broken off. */
export function usageOf(step: LoopStep): Usage | undefined {
  if (step.type === "request_failed") return step.failure.usage;
  return step.type === "answered" || step.type === "interrupted" ? step.usage : undefined;
}
