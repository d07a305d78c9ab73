// The query loop: one turn, from the user's message to the final answer.
//
// It owns the order of a turn and nothing else: no storage, no files, no memory, no clock. Its
// caller writes each step to disk before it asks for the next one, so a step's effect never comes
// before its record, and a turn that died is started again from `TurnState` as read from disk.

import type { ToolCallRun } from "./calls.ts";
import { runCalls, startRead } from "./calls.ts";
import { type Message, type ToolUseBlock, withoutThinking } from "./messages.ts";
import type { Answer, Model, ModelEvent, ModelFailure, ModelRequest, Usage } from "./model.ts";
import { afterAnswer } from "./next-step.ts";
import type { Answers, Permission } from "./pending-action.ts";
import type { ResultLimits } from "./result-budget.ts";
import type { NextTry, RetryLimits } from "./retry.ts";
import { nextTry } from "./retry.ts";
import type { CallState, LoopOutcome, LoopStep, TurnState } from "./steps.ts";
import type { Tool } from "./tool.ts";

export interface LoopPorts {
  model: Model;
  tools: ReadonlyMap<string, Tool>;
  /** All of a request but its messages: the same bytes for the whole session. */
  request: Omit<ModelRequest, "messages">;
  hooks: LoopHooks;
  /** What is decided of a call before it runs; without it nobody decides and no call waits. */
  permit?: (call: ToolUseBlock) => Permission;
  /** Without it nobody can answer: a call that would have to wait is refused. */
  answers?: Answers;
  /** Resolves after so many milliseconds, or at once when the signal aborts. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** A number from 0 to 1, for the jitter of pauses. */
  random: () => number;
  limits: LoopLimits;
  /** A model that takes the turn over while its own is overloaded. */
  fallback?: string;
}

/** Tries that an overloaded model gets before another one takes over. */
const FALLBACK_AFTER = 2;

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
  prepare?(tooLong: boolean): Promise<Prepared>;
  /** Step 9, after each answer; not awaited. */
  sampled?(messages: readonly Message[]): void;
  /** Step 11: messages that join the turn before its next model call. */
  joining?(messages: readonly Message[]): Promise<Message[]>;
  /** Step 12, once, when the answer is final. */
  stopped?(messages: readonly Message[]): Promise<void>;
}

export type Prepared =
  /** `messages`: the history to go on with, where it changed. */
  | { status: "ready"; messages?: Message[] }
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
  const messages = [...state.messages];
  let { iteration, attempt, continuations } = state;
  let pending = state.pending;
  let started = new Map<string, ToolCallRun>();
  let tooLong = false;
  let shortened = false;
  let { model } = ports.request;

  while (true) {
    if (pending.length > 0) {
      // Steps 8 (tools) and 10: a turn that is resumed in the middle of its tools starts here.
      const results = yield* runCalls(
        pending,
        started,
        ports.tools,
        ports.limits.results,
        signal,
        ports.answers,
      );
      if (!results) return { reason: "requires_action" };
      messages.push(results);
      yield { type: "results", message: results };
      pending = [];
    }
    if (signal.aborted) return yield* interrupted("");
    // Before anything joins: what joins is to be answered.
    if (iteration >= ports.limits.iterations) {
      return { reason: "iterations", limit: ports.limits.iterations };
    }
    // Step 11: nothing but results and what joins makes the turn go on.
    for (const message of (await ports.hooks.joining?.(messages)) ?? []) {
      if (signal.aborted) return yield* interrupted("");
      messages.push(message);
      yield { type: "joined", message };
    }

    // Steps 1 to 7: boundary, budgets, trimming, micro-compaction, collapse, compaction, refusal.
    const prepared = await ports.hooks.prepare?.(tooLong);
    tooLong = false;
    if (signal.aborted) return yield* interrupted("");
    if (prepared?.status === "refused") {
      const outcome: LoopOutcome = { reason: "failed" };
      const next: NextTry = { action: "give_up" };
      yield { type: "request_failed", failure: prepared.failure, attempt, next, outcome };
      return outcome;
    }
    if (prepared?.status === "paused") return { reason: "wait", ms: prepared.ms };
    if (prepared?.messages) messages.splice(0, messages.length, ...prepared.messages);

    // Step 8: the model speaks; read-only tools start as soon as their input is complete.
    yield { type: "request_started", model };
    const reads = new AbortController();
    started = new Map();
    let said = "";
    const speech = ports.model.stream(
      { ...ports.request, model, messages: heardBy(model) },
      signal,
    );
    let event = await speech.next();
    while (!event.done) {
      if (event.value.type === "text") said += event.value.text;
      begin(event.value, reads.signal);
      yield { type: "preview", event: event.value };
      event = await speech.next();
    }
    const heard = event.value;

    if (heard.status === "failed") {
      reads.abort();
      if (signal.aborted || heard.kind === "aborted") {
        return yield* interrupted(said, heard.usage);
      }
      let next = nextTry(heard, attempt, ports.limits, ports.random);
      attempt += 1;
      // A prompt that proves too long is compacted and tried again, once.
      if (heard.kind === "too_long" && !shortened && ports.hooks.prepare) {
        shortened = true;
        tooLong = true;
        next = { action: "retry", ms: 0 };
      } else if (takesOver(heard, attempt)) {
        model = ports.fallback ?? model;
        next = { action: "retry", ms: 0 };
      }
      const outcome = outcomeOf(next);
      yield {
        type: "request_failed",
        failure: heard,
        attempt,
        next,
        ...(outcome ? { outcome } : {}),
      };
      if (outcome) return outcome;
      await ports.sleep(next.action === "retry" ? next.ms : 0, signal);
      continue;
    }

    attempt = 0;
    shortened = false;
    iteration += 1;
    const decision = afterAnswer(ownThoughts(heard), continuations, ports.limits.continuations);
    const calls = decision.calls.map(permitted);
    if (decision.next !== "tools") reads.abort();
    if (decision.message) messages.push(decision.message);
    if (decision.next === "continue") messages.push(decision.continuation);
    yield {
      type: "answered",
      message: decision.message,
      calls,
      usage: heard.usage,
      ...(decision.problem ? { problem: decision.problem } : {}),
      ...(decision.next === "continue" ? { continuation: decision.continuation } : {}),
      ...(decision.next === "end" ? { outcome: decision.outcome } : {}),
    };

    // Step 9.
    ports.hooks.sampled?.(messages);

    if (decision.next === "tools") pending = calls;
    if (decision.next === "continue") {
      continuations += 1;
      tooLong = decision.problem?.kind === "context_window";
    }
    if (decision.next === "end") {
      // Steps 12 and 13.
      await ports.hooks.stopped?.(messages);
      return decision.outcome;
    }
  }

  /** Thinking is bound to the model that thought: another one is not shown it. */
  function heardBy(id: string): readonly Message[] {
    if (id === ports.request.model) return messages;
    return messages.flatMap((message) => withoutThinking(message) ?? []);
  }

  /** What another model thought is nothing that this one could be shown later. */
  function ownThoughts(answer: Answer): Answer {
    if (model === ports.request.model) return answer;
    const message = withoutThinking({ role: "assistant", content: answer.content });
    return { ...answer, content: message?.role === "assistant" ? message.content : [] };
  }

  function takesOver(failure: ModelFailure, failed: number): boolean {
    const own = model === ports.request.model && ports.fallback !== undefined;
    return own && failure.kind === "overloaded" && failed >= FALLBACK_AFTER;
  }

  function begin(event: ModelEvent, stop: AbortSignal): void {
    if (event.type !== "call" || event.call.malformed !== undefined) return;
    const tool = ports.tools.get(event.call.name);
    if (tool?.kind !== "read") return;
    started.set(event.call.id, startRead(tool, event.call.input, AbortSignal.any([signal, stop])));
  }

  function permitted(state: CallState): CallState {
    const permission = ports.permit?.(state.call);
    if (permission === undefined) return state;
    // What cannot be run needs nobody's decision.
    const refused = state.malformed !== undefined && permission !== "client";
    return { ...state, permission: refused ? "deny" : permission };
  }

  async function* interrupted(said: string, usage?: Usage): AsyncGenerator<LoopStep, LoopOutcome> {
    const outcome: LoopOutcome = { reason: "interrupted" };
    const mark: Message = {
      role: "user",
      content: [{ type: "text", text: "[The user interrupted this turn.]" }],
    };
    // An answer that is broken off may end within a character.
    yield {
      type: "interrupted",
      said: said.toWellFormed(),
      mark,
      ...(usage ? { usage } : {}),
      outcome,
    };
    return outcome;
  }
}

function outcomeOf(next: NextTry): LoopOutcome | undefined {
  if (next.action === "give_up") return { reason: "failed" };
  return next.action === "wait" ? { reason: "wait", ms: next.ms } : undefined;
}
