// Running the tool calls of one answer: readers side by side, writers alone and in order, and last
// those that somebody had to answer.

import type { Message, ToolResultBlock } from "../thread/messages.ts";
import type { Answers, CallAnswer } from "./pending-action.ts";
import { answerResult } from "./pending-action.ts";
import type { ResultBudget, ResultLimits } from "./result-budget.ts";
import { createResultBudget } from "./result-budget.ts";
import type { CallState, LoopStep } from "./steps.ts";
import { storedFile } from "./stored-result.ts";
import type { ReadTool, Tool, ToolResult } from "./tool.ts";

/** A read that is under way or done. */
export type ToolCallRun = Promise<ToolResult>;

/** Starts a read-only call; an abort turns it into a result, whatever the tool itself does. */
export function startRead(tool: ReadTool, input: unknown, signal: AbortSignal): ToolCallRun {
  return new Promise((resolve) => {
    const stop = () => resolve(failed(INTERRUPTED));
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    runRead(tool, input, signal).then((result) => {
      signal.removeEventListener("abort", stop);
      resolve(result);
    });
  });
}

async function runRead(tool: ReadTool, input: unknown, signal: AbortSignal): Promise<ToolResult> {
  try {
    return await tool.run(input, signal);
  } catch {
    return failed(`${tool.name} failed unexpectedly. Try it once more, or go on without it`);
  }
}

/**
 * Runs what is left of these calls and returns the one message with all their results, in the order
 * of the calls. `started` holds the reads that began while the model still spoke. A result that is too
 * large, alone or together with the others, is cut before it is told. Gives back undefined where all
 * is done but what somebody outside still has to answer.
 */
export async function* runCalls(
  states: readonly CallState[],
  started: ReadonlyMap<string, ToolCallRun>,
  tools: ReadonlyMap<string, Tool>,
  limits: ResultLimits,
  signal: AbortSignal,
  answers?: Answers,
): AsyncGenerator<LoopStep, Message | undefined> {
  const results = new Map<string, ToolResult>();
  const running = new Map<string, Promise<[string, ToolResult]>>();
  const writers: CallState[] = [];
  const waiting: CallState[] = [];
  const budget = createResultBudget(states.length, limits);
  for (const { result } of states) if (result) budget.count(result);
  const names = new Map(states.map(({ call }) => [call.id, call.name]));

  for (const state of states) {
    const { id, name, input } = state.call;
    const tool = tools.get(name);
    if (state.result) results.set(id, state.result);
    else if (state.malformed !== undefined)
      running.set(id, named(id, badInput(name, state.malformed)));
    else if (!tool) running.set(id, named(id, unknownTool(name, tools)));
    else if (tool.kind === "client" || state.permission === "ask") waiting.push(state);
    else if (tool.kind === "write") writers.push(state);
    else running.set(id, named(id, started.get(id) ?? startRead(tool, input, signal)));
  }

  while (running.size > 0) {
    const [id, whole] = await Promise.race(running.values());
    running.delete(id);
    const step = finished(id, whole, budget, names.get(id));
    results.set(id, step.result);
    yield step;
  }
  for (const state of writers) {
    const { id } = state.call;
    const step = finished(id, yield* runWriter(state, tools, signal), budget, names.get(id));
    results.set(id, step.result);
    yield step;
  }
  let undecided = false;
  for (const state of waiting) {
    const { id } = state.call;
    const answer = answers?.(id);
    // A change that is allowed keeps its place: it waits for those before it that may come to be.
    const open = answer === undefined || (answer.type === "allow" && undecided && !signal.aborted);
    if (open && answers && !signal.aborted) {
      undecided ||= state.permission === "ask";
      continue;
    }
    const whole = yield* runAnswered(state, answer, tools, signal);
    const step = finished(id, whole, budget, names.get(id));
    results.set(id, step.result);
    yield step;
  }
  if (results.size < states.length) return undefined;
  return { role: "user", content: states.map((state) => resultBlock(state.call.id, results)) };
}

/** Read pages by itself, so what it gave is not kept a second time; all else is, where it is cut. */
function finished(
  id: string,
  whole: ToolResult,
  budget: ResultBudget,
  name: string | undefined,
): Extract<LoopStep, { type: "call_finished" }> {
  const path = name === "Read" ? undefined : storedFile(id);
  const result = budget.fit(whole, path);
  const cut = result.content !== whole.content;
  return {
    type: "call_finished",
    callId: id,
    result,
    stored: cut && path !== undefined ? { path, content: whole.content } : undefined,
  };
}

/** A call that waited, with its answer; without one it was interrupted, or nobody can answer here. */
async function* runAnswered(
  state: CallState,
  answer: CallAnswer | undefined,
  tools: ReadonlyMap<string, Tool>,
  signal: AbortSignal,
): AsyncGenerator<LoopStep, ToolResult> {
  const { name } = state.call;
  const asked = state.permission === "ask";
  if (answer && answer.type !== "allow") {
    return answerResult(name, state.permission ?? "client", answer);
  }
  if (answer && asked) return yield* runWriter(state, tools, signal);
  if (!signal.aborted) return failed(`Refused: ${name} needs an answer that nobody can give here`);
  return failed(asked ? INTERRUPTED : INTERRUPTED_CLIENT);
}

/** An interrupt stops a writer before its plan is on disk; behind that it is carried out and told. */
async function* runWriter(
  state: CallState,
  tools: ReadonlyMap<string, Tool>,
  signal: AbortSignal,
): AsyncGenerator<LoopStep, ToolResult> {
  const { id, name, input } = state.call;
  const tool = tools.get(name);
  if (tool?.kind !== "write") return failed(`${name} is not available`);
  try {
    if (state.plan !== undefined) return await tool.commit(state.plan, true);
    if (signal.aborted) return failed(INTERRUPTED);
    const planned = await tool.plan(input, signal);
    if (planned.status === "refused") return planned.result;
    if (signal.aborted) return failed(INTERRUPTED);
    yield { type: "call_planned", callId: id, plan: planned.plan };
    return await tool.commit(planned.plan, false);
  } catch {
    return failed(
      `${name} failed unexpectedly, and its change may or may not be there. Look before you try again`,
    );
  }
}

const INTERRUPTED = "Interrupted by the user before it ran to its end; nothing was changed by it";
const INTERRUPTED_CLIENT =
  "Interrupted by the user before the client gave a result; what it did is not known";

function resultBlock(id: string, results: ReadonlyMap<string, ToolResult>): ToolResultBlock {
  const result = results.get(id) ?? failed(INTERRUPTED);
  const block: ToolResultBlock = { type: "tool_result", tool_use_id: id, content: result.content };
  return result.isError ? { ...block, is_error: true } : block;
}

async function named(id: string, run: ToolCallRun | ToolResult): Promise<[string, ToolResult]> {
  return [id, await run];
}

function badInput(name: string, reason: string): ToolResult {
  return failed(
    `The input of ${name} is not valid JSON (${reason}); it was not run. Call it again`,
  );
}

function unknownTool(name: string, tools: ReadonlyMap<string, Tool>): ToolResult {
  return failed(`There is no tool "${name}". There are: ${[...tools.keys()].join(", ")}`);
}

function failed(content: string): ToolResult {
  return { content, isError: true, notes: [] };
}
