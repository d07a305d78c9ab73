// A fork: a run of the model that continues a conversation which it did not start. Its requests begin
// with the bytes of its parent's, so that it reads the parent's prompt cache. Its messages never become
// part of the parent's transcript.

import type { LoopPorts } from "../loop/loop.ts";
import { runLoop } from "../loop/loop.ts";
import type { Purpose } from "../loop/model.ts";
import type { LoopOutcome, LoopStep, TurnState } from "../loop/steps.ts";
import type { Tool, ToolSpec } from "../loop/tool.ts";
import type { Message } from "../thread/messages.ts";

/** The part that a fork shares with its parent, with the same bytes. */
export interface ForkPrefix {
  model: string;
  /** Output tokens. */
  maxTokens: number;
  system: readonly string[];
  tools: readonly ToolSpec[];
  messages: readonly Message[];
}

interface ForkPorts extends Pick<LoopPorts, "model" | "sleep" | "random" | "limits"> {
  /** The parent's tools by the same names, with the fork's own rights. */
  tools: ReadonlyMap<string, Tool>;
}

/**
 * Runs a fork. `state`: its messages after the prefix, the task first. As with a turn, the caller records
 * each step before it asks for the next one. `ports.limits.iterations` is the fork's own limit; reaching
 * it is a success, since what the fork saved is saved.
 */
export function runFork(
  prefix: ForkPrefix,
  run: { purpose: Purpose; sessionId: string },
  state: TurnState,
  ports: ForkPorts,
  signal: AbortSignal,
): AsyncGenerator<LoopStep, LoopOutcome> {
  const { model, maxTokens, system, tools, messages } = prefix;
  return runLoop(
    { ...state, messages: [...messages, ...state.messages] },
    { ...ports, request: { ...run, model, maxTokens, system, tools }, hooks: {} },
    signal,
  );
}

/** Whether a fork finished its task or reached its limit of iterations. */
export function forkSucceeded(outcome: LoopOutcome): boolean {
  return outcome.reason === "end_turn" || outcome.reason === "iterations";
}
