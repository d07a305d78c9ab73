// The query loop: one turn, from the user's message to the final answer.
//
// It owns the order of a turn and nothing else: no storage, no files, no memory, no clock. The caller
// writes each step to disk before it asks for the next one, so a step is recorded before it has an
// effect. After a crash the turn continues from `TurnState` as read from disk.

import type { Draft } from "../thread/entry.ts";
import type { Message, ToolUseBlock } from "../thread/messages.ts";
import { afterFailure } from "./after-failure.ts";
import { callModel } from "./call-model.ts";
import { runCalls } from "./calls.ts";
import type { Model, ModelFailure, ModelRequest, Usage } from "./model.ts";
import { nextStep } from "./next-step.ts";
import type { Answers, Permission } from "./pending-action.ts";
import type { ResultLimits } from "./result-budget.ts";
import type { RetryLimits } from "./retry.ts";
import type { CallState, LoopOutcome, LoopStep, TurnState } from "./steps.ts";
import type { Tool } from "./tool.ts";

export interface LoopPorts {
  model: Model;
  tools: ReadonlyMap<string, Tool>;
  /** The request without its messages: the same bytes for the whole thread. */
  request: Omit<ModelRequest, "messages">;
  hooks: LoopHooks;
  /** Decides on a call before it runs. Without it every call is allowed. */
  permit?: ((call: ToolUseBlock) => Permission) | undefined;
  /** Without it nobody can answer: what would be a pending action is refused. */
  answers?: Answers | undefined;
  /** Resolves after so many milliseconds, or at once when the signal aborts. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** A number from 0 to 1, for the jitter of the backoff. */
  random: () => number;
  limits: LoopLimits;
  /** The model that takes over while the request's own is overloaded. */
  fallback?: string | undefined;
}

interface LoopLimits extends RetryLimits {
  iterations: number;
  continuations: number;
  results: ResultLimits;
}

/** What the caller may add to a loop. None may throw; none changes what was already sent. */
export interface LoopHooks {
  /**
   * Steps 1 to 7, before each model call: makes the conversation fit the context window. `tooLong`: the
   * model has just refused it because of its length.
   */
  prepare?: ((tooLong: boolean) => Promise<Prepared>) | undefined;
  /** The model is about to be asked: false where the turn is to begin anew, with what it reads then. */
  sending?: (() => Promise<boolean>) | undefined;
  /** Step 9: an answer and the results of its calls are on disk. Not awaited. */
  sampled?: (() => void) | undefined;
  /** Step 11: what joins the turn before its next model call. */
  joining?: ((messages: readonly Message[]) => Promise<Draft[]>) | undefined;
}

export type Prepared =
  /** `messages`: the history from now on, if it changed. */
  | { status: "ready"; messages?: Message[] | undefined }
  | { status: "refused"; failure: ModelFailure }
  /** The invocation has used up its limits: the turn continues in `ms` milliseconds in a new one. */
  | { status: "paused"; ms: number };

/**
 * Runs one turn. Yields every step for the caller to record; returns why the turn ended or paused.
 * Aborting `signal` is the user's interrupt: every tool call still gets a result before the loop ends.
 *
 * The steps of an iteration, and where each is done:
 *
 * 1. messages after the last compaction      `prepare`: the view of the thread
 * 2. large results held to their budget      `calls.ts`, when a result is made
 * 3. old history trimmed                     `prepare`: one shrinking of the view
 * 4. old results become markers              `prepare`: the same
 * 5. context with its own summary left out   `prepare`: the same
 * 6. compaction near the window              `prepare`
 * 7. what is still too large refused         `prepare`
 * 8. the model, and the tools that it calls  `call-model.ts`, `calls.ts`
 * 9. hooks after an answer, not awaited      `sampled`
 * 10. interrupt: every call gets a result    `calls.ts`, `interrupt`
 * 11. results and what joins make it go on   `joining`
 * 12. hooks after a final answer             the caller's, in the transaction that ends the turn
 * 13. the reason for ending                  the return value
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
  // A turn that crashed during its tool calls continues with them: the answer is on disk.
  let outcome = pending.length > 0 ? undefined : yield* continueTurn();
  while (!outcome) {
    let started: Parameters<typeof runCalls>[1] = new Map();
    let answered = pending.length > 0;
    if (!answered) {
      // Steps 1 to 7.
      const prepared = await hooks.prepare?.(call.tooLong);
      call = { ...call, tooLong: false };
      if (signal.aborted) return yield* interrupt("");
      if (prepared?.status === "paused") return { reason: "paused", ms: prepared.ms };
      if (prepared?.status === "refused") return yield* failTurn(prepared.failure);
      if (prepared?.messages) messages.splice(0, messages.length, ...prepared.messages);

      // Step 8: the model answers; reads start as soon as their input is complete.
      yield { type: "request_started", model: call.model };
      if ((await hooks.sending?.()) === false) return { reason: "paused", ms: 0 };
      const response = yield* callModel(ports, call.model, messages, signal);
      const { answer } = response;
      if (answer.status === "failed") {
        response.stopReads();
        if (signal.aborted || answer.kind === "aborted") {
          return yield* interrupt(response.text, answer.usage);
        }
        const failed = afterFailure(answer, attempt, call, ports);
        attempt += 1;
        call = failed.call;
        yield { type: "request_failed", failure: answer, attempt, ...failed.step };
        outcome = failed.step.outcome;
        if (!outcome) await ports.sleep(failed.ms, signal);
      } else {
        const next = nextStep(answer, continuations, limits.continuations);
        const calls = next.calls.map(permitted);
        if (next.next === "tools") started = response.started;
        else response.stopReads();
        if (next.message) messages.push(next.message);
        if (next.continuation) messages.push(next.continuation);
        const { message, problem, continuation } = next;
        const { usage } = answer;
        outcome = next.outcome;
        yield { type: "answered", message, calls, usage, problem, continuation, outcome };
        answered = true;
        attempt = 0;
        iteration += 1;
        continuations += continuation ? 1 : 0;
        call = { ...call, shortened: false, tooLong: problem?.kind === "context_window" };
        pending = calls;
      }
    }
    if (pending.length > 0) {
      // Step 8: the rest of the calls.
      const { tools, answers } = ports;
      const results = yield* runCalls(pending, started, tools, limits.results, signal, answers);
      if (!results) return { reason: "requires_action" };
      messages.push(results);
      yield { type: "results", message: results };
      pending = [];
    }
    // Step 9, not awaited. The conversation is complete at this point.
    if (answered) hooks.sampled?.();
    // Steps 10 and 11. Step 12, after a final answer, is the caller's: it records it with the turn's end.
    outcome ??= yield* continueTurn();
  }
  // Step 13.
  return outcome;

  /** Steps 10 and 11: returns an outcome if the turn ends here, else adds what joins it. */
  async function* continueTurn(): AsyncGenerator<LoopStep, LoopOutcome | undefined> {
    if (signal.aborted) return yield* interrupt("");
    // Before anything joins: what joins needs an answer.
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
    // A call that cannot run needs no decision.
    const cannotRun = state.malformed !== undefined && permission !== "client";
    return { ...state, permission: cannotRun && permission ? "deny" : permission };
  }

  async function* failTurn(failure: ModelFailure): AsyncGenerator<LoopStep, LoopOutcome> {
    const failed: LoopOutcome = { reason: "failed" };
    const next = { action: "give_up" } as const;
    yield { type: "request_failed", failure, attempt, next, outcome: failed };
    return failed;
  }

  async function* interrupt(text: string, usage?: Usage): AsyncGenerator<LoopStep, LoopOutcome> {
    const interrupted: LoopOutcome = { reason: "interrupted" };
    // A partial answer may end with a lone surrogate.
    yield {
      type: "interrupted",
      text: text.toWellFormed(),
      mark: MARK,
      usage,
      outcome: interrupted,
    };
    return interrupted;
  }
}

const MARK: Message = {
  role: "user",
  content: [{ type: "text", text: "[The user interrupted this turn.]" }],
};
