// The query loop: one turn, from the user's message to the final answer.
//
// It owns the order of a turn and nothing else: no storage, no files, no memory, no clock. Its
// caller writes each step to disk before it asks for the next one, so a step's effect never comes
// before its record, and a turn that died is started again from `TurnState` as read from disk.

import type { Draft } from "../thread/entry.ts";
import type { Message, ToolUseBlock } from "../thread/messages.ts";
import { afterFailure } from "./after-failure.ts";
import { callModel } from "./call-model.ts";
import { runCalls } from "./calls.ts";
import type { Model, ModelFailure, ModelRequest, Usage } from "./model.ts";
import { afterAnswer } from "./next-step.ts";
import type { Answers, Permission } from "./pending-action.ts";
import type { ResultLimits } from "./result-budget.ts";
import type { RetryLimits } from "./retry.ts";
import type { CallState, LoopOutcome, LoopStep, TurnState } from "./steps.ts";
import type { Tool } from "./tool.ts";

export interface LoopPorts {
  model: Model;
  tools: ReadonlyMap<string, Tool>;
  /** All of a request but its messages: the same bytes for the whole thread. */
  request: Omit<ModelRequest, "messages">;
  hooks: LoopHooks;
  /** What is decided of a call before it runs; without it nobody decides and no call is pending. */
  permit?: ((call: ToolUseBlock) => Permission) | undefined;
  /** Without it nobody can answer: a call that would have to wait is refused. */
  answers?: Answers | undefined;
  /** Resolves after so many milliseconds, or at once when the signal aborts. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** A number from 0 to 1, for the jitter of pauses. */
  random: () => number;
  limits: LoopLimits;
  /** A model that takes the turn over while its own is overloaded. */
  fallback?: string | undefined;
}

export interface LoopLimits extends RetryLimits {
  iterations: number;
  continuations: number;
  results: ResultLimits;
}

/** What the surroundings of a loop may add. None may throw; none changes what was already sent. */
export interface LoopHooks {
  /**
   * Steps 1 to 7, before each model call: makes the conversation fit. `tooLong`: the model has just
   * refused it for its length. Without it: the history as it is.
   */
  prepare?: ((tooLong: boolean) => Promise<Prepared>) | undefined;
  /** Step 9: an answer is on disk, and the results of its calls. Not awaited. */
  sampled?: (() => void) | undefined;
  /** Step 11: what joins the turn before its next model call. */
  joining?: ((messages: readonly Message[]) => Promise<Draft[]>) | undefined;
}

export type Prepared =
  /** `messages`: the history to go on with, where it changed. */
  | { status: "ready"; messages?: Message[] | undefined }
  | { status: "refused"; failure: ModelFailure }
  /** The turn is to go on later, in so many milliseconds: what it runs in has nothing left to give. */
  | { status: "paused"; ms: number };

/**
 * Runs one turn. Yields every step for its caller to record, returns why the turn ended. Aborting
 * `signal` is the user's interrupt: the loop still gives every tool call a result before it ends.
 */
export async function* runLoop(
  state: TurnState,
  ports: LoopPorts,
  signal: AbortSignal,
): AsyncGenerator<LoopStep, LoopOutcome> {
  const { hooks, limits } = ports;
  const messages = [...state.messages];
  let { pending, iteration, attempt, continuations } = state;
  let call = { model: ports.request.model, tooLong: false, shortened: false };
  // A turn that died among its tool calls goes on there: its answer is on disk.
  let over = pending.length > 0 ? undefined : yield* join();
  while (!over) {
    let started: Parameters<typeof runCalls>[1] = new Map();
    let answered = pending.length > 0;
    if (!answered) {
      // Steps 1 to 7: boundary, budgets, trimming, micro-compaction, collapse, compaction, refusal.
      const prepared = await hooks.prepare?.(call.tooLong);
      call = { ...call, tooLong: false };
      if (signal.aborted) return yield* interrupt("");
      if (prepared?.status === "paused") return { reason: "wait", ms: prepared.ms };
      if (prepared?.status === "refused") return yield* refuse(prepared.failure);
      if (prepared?.messages) messages.splice(0, messages.length, ...prepared.messages);

      // Step 8: the model speaks; reads start as soon as their input is complete.
      yield { type: "request_started", model: call.model };
      const spoken = yield* callModel(ports, call.model, messages, signal);
      const { answer } = spoken;
      if (answer.status === "failed") {
        spoken.stopReads();
        if (signal.aborted || answer.kind === "aborted") {
          return yield* interrupt(spoken.text, answer.usage);
        }
        const failed = afterFailure(answer, attempt, call, ports);
        attempt += 1;
        call = failed.call;
        yield { type: "request_failed", failure: answer, attempt, ...failed.step };
        over = failed.step.outcome;
        if (!over) await ports.sleep(failed.ms, signal);
      } else {
        const next = afterAnswer(answer, continuations, limits.continuations);
        const calls = next.calls.map(permitted);
        if (next.next === "tools") started = spoken.started;
        else spoken.stopReads();
        if (next.message) messages.push(next.message);
        if (next.continuation) messages.push(next.continuation);
        const { message, problem, continuation, outcome } = next;
        const { usage } = answer;
        yield { type: "answered", message, calls, usage, problem, continuation, outcome };
        answered = true;
        attempt = 0;
        iteration += 1;
        continuations += continuation ? 1 : 0;
        call = { ...call, shortened: false, tooLong: problem?.kind === "context_window" };
        pending = calls;
        over = outcome;
      }
    }
    if (pending.length > 0) {
      // Step 8: the rest of the calls, the writing ones alone and in order.
      const { tools, answers } = ports;
      const results = yield* runCalls(pending, started, tools, limits.results, signal, answers);
      if (!results) return { reason: "requires_action" };
      messages.push(results);
      yield { type: "results", message: results };
      pending = [];
    }
    // Step 9, not awaited: what looks at the conversation finds it complete.
    if (answered) hooks.sampled?.();
    // Steps 10 and 11; a final answer is left to 12, which its caller records with the turn's end.
    over ??= yield* join();
  }
  // Step 13.
  return over;

  /** Steps 10 and 11: an interrupt ends the turn, else results and what joins make it go on. */
  async function* join(): AsyncGenerator<LoopStep, LoopOutcome | undefined> {
    if (signal.aborted) return yield* interrupt("");
    // Before anything joins: what joins is to be answered.
    if (iteration >= limits.iterations) return { reason: "iterations", limit: limits.iterations };
    for (const draft of (await hooks.joining?.(messages)) ?? []) {
      if (signal.aborted) return yield* interrupt("");
      messages.push(draft.message);
      yield { type: "joined", ...draft };
    }
    return undefined;
  }

  function permitted(state: CallState): CallState {
    const permission = ports.permit?.(state.call);
    // What cannot be run needs nobody's decision.
    const refused = state.malformed !== undefined && permission !== "client";
    return { ...state, permission: refused && permission ? "deny" : permission };
  }

  async function* refuse(failure: ModelFailure): AsyncGenerator<LoopStep, LoopOutcome> {
    const outcome: LoopOutcome = { reason: "failed" };
    yield { type: "request_failed", failure, attempt, next: { action: "give_up" }, outcome };
    return outcome;
  }

  async function* interrupt(text: string, usage?: Usage): AsyncGenerator<LoopStep, LoopOutcome> {
    const outcome: LoopOutcome = { reason: "interrupted" };
    // An answer that is broken off may end within a character.
    yield { type: "interrupted", text: text.toWellFormed(), mark: MARK, usage, outcome };
    return outcome;
  }
}

const MARK: Message = {
  role: "user",
  content: [{ type: "text", text: "[The user interrupted this turn.]" }],
};
