// A fork: a run of the model that goes on from a conversation which it did not start. Its requests
// begin with the very bytes of its parent's, so that it reads the parent's prompt cache; what it says
// and does is its own, and never becomes part of the parent's transcript.

import type { LoopPorts } from "../loop/loop.ts";
import { runLoop } from "../loop/loop.ts";
import type { Purpose } from "../loop/model.ts";
import type { LoopOutcome, LoopStep, TurnState } from "../loop/steps.ts";
import type { Tool, ToolSpec } from "../loop/tool.ts";
import type { Message } from "../thread/messages.ts";

/** What a fork shares with its parent; every byte of it as the parent sent it. */
export interface ForkPrefix {
  model: string;
  /** Output tokens. */
  maxTokens: number;
  system: readonly string[];
  tools: readonly ToolSpec[];
  messages: readonly Message[];
}

export interface ForkPorts extends Pick<LoopPorts, "model" | "sleep" | "random" | "limits"> {
  /** What runs when the fork calls a tool: the parent's names, the fork's own rights. */
  tools: ReadonlyMap<string, Tool>;
}

/**
 * Runs a fork from where its state says it is: what came after the prefix, its task first. As with a turn, its caller records each step before it
 * asks for the next; `ports.limits.iterations` is the fork's own. Reaching it ends the fork with
 * `iterations`, which is a success: what it did is done.
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

/** Whether an outcome means that the fork did what it was asked, all of it or as far as it may. */
export function forkSucceeded(outcome: LoopOutcome): boolean {
  return outcome.reason === "end_turn" || outcome.reason === "iterations";
}
