// Runs the tool calls of one answer: reads in parallel, then writes one by one in order, then the
// pending actions that have their answer.

import type { Message, ToolResultBlock } from "../thread/messages.ts";
import type { Answers, CallAnswer } from "./pending-action.ts";
import { answerResult } from "./pending-action.ts";
import type { ResultBudget, ResultLimits } from "./result-budget.ts";
import { createResultBudget } from "./result-budget.ts";
import type { CallState, LoopStep } from "./steps.ts";
import { storedFile } from "./stored-result.ts";
import type { ReadTool, Tool, ToolResult } from "./tool.ts";
import { errorResult } from "./tool.ts";

/** Starts a read-only call. Never rejects; after an abort it resolves at once, whatever the tool does. */
export function startRead(
  tool: ReadTool,
  input: unknown,
  signal: AbortSignal,
): Promise<ToolResult> {
  return new Promise((resolve) => {
    const stop = () => resolve(errorResult(INTERRUPTED));
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
    return errorResult(`${tool.name} failed unexpectedly. Try it once more, or go on without it`);
  }
}

/**
 * Runs the calls that have no result yet, and returns one message with all results in the order of the
 * calls. Returns undefined if only pending actions are left. `started`: the reads that started while
 * the answer was streaming. A result that is too large, alone or together with the others, is cut
 * before its step is yielded.
 */
export async function* runCalls(
  states: readonly CallState[],
  started: ReadonlyMap<string, Promise<ToolResult>>,
  tools: ReadonlyMap<string, Tool>,
  limits: ResultLimits,
  signal: AbortSignal,
  answers?: Answers,
): AsyncGenerator<LoopStep, Message | undefined> {
  const results = new Map<string, ToolResult>();
  const running = new Map<string, Promise<[string, ToolResult]>>();
  const writes: CallState[] = [];
  const actions: CallState[] = [];
  const budget = createResultBudget(states.length, limits);
  for (const { result } of states) if (result) budget.count(result);
  const names = new Map(states.map(({ call }) => [call.id, call.name]));

  for (const state of states) {
    const { id, name, input } = state.call;
    const tool = tools.get(name);
    if (state.result) results.set(id, state.result);
    else if (state.malformed !== undefined)
      running.set(id, withId(id, badInput(name, state.malformed)));
    else if (!tool) running.set(id, withId(id, unknownTool(name, tools)));
    else if (tool.kind === "client" || state.permission === "ask") actions.push(state);
    else if (tool.kind === "write") writes.push(state);
    else running.set(id, withId(id, started.get(id) ?? startRead(tool, input, signal)));
  }

  while (running.size > 0) {
    const [id, uncut] = await Promise.race(running.values());
    running.delete(id);
    const step = finishedStep(id, uncut, budget, names.get(id));
    results.set(id, step.result);
    yield step;
  }
  for (const state of writes) {
    const { id } = state.call;
    const step = finishedStep(id, yield* runWrite(state, tools, signal), budget, names.get(id));
    results.set(id, step.result);
    yield step;
  }
  let undecided = false;
  for (const state of actions) {
    const { id } = state.call;
    const answer = answers?.(id);
    // Changes run in the order of the calls: an allowed one stays pending after an undecided one.
    const isPending =
      answer === undefined || (answer.type === "allow" && undecided && !signal.aborted);
    if (isPending && answers && !signal.aborted) {
      undecided ||= state.permission === "ask";
      continue;
    }
    const uncut = yield* runAction(state, answer, tools, signal);
    const step = finishedStep(id, uncut, budget, names.get(id));
    results.set(id, step.result);
    yield step;
  }
  if (results.size < states.length) return undefined;
  return { role: "user", content: states.map((state) => resultBlock(state.call.id, results)) };
}

/** A result that is cut is stored whole, except one of Read: the file itself is there to be paged. */
function finishedStep(
  id: string,
  uncut: ToolResult,
  budget: ResultBudget,
  name: string | undefined,
): Extract<LoopStep, { type: "call_finished" }> {
  const path = name === "Read" ? undefined : storedFile(id);
  const result = budget.fit(uncut, path);
  const cut = result.content !== uncut.content;
  return {
    type: "call_finished",
    callId: id,
    result,
    stored: cut && path !== undefined ? { path, content: uncut.content } : undefined,
  };
}

/** A pending action with its answer. Without one it was interrupted, or nobody can answer here. */
async function* runAction(
  state: CallState,
  answer: CallAnswer | undefined,
  tools: ReadonlyMap<string, Tool>,
  signal: AbortSignal,
): AsyncGenerator<LoopStep, ToolResult> {
  const { name } = state.call;
  const needsApproval = state.permission === "ask";
  if (answer && answer.type !== "allow") {
    return answerResult(name, state.permission ?? "client", answer);
  }
  if (answer && needsApproval) return yield* runWrite(state, tools, signal);
  if (!signal.aborted)
    return errorResult(`Refused: ${name} needs an answer that nobody can give here`);
  return errorResult(needsApproval ? INTERRUPTED : INTERRUPTED_CLIENT);
}

/** An interrupt stops a write until its plan is on disk. After that the write is carried out. */
async function* runWrite(
  state: CallState,
  tools: ReadonlyMap<string, Tool>,
  signal: AbortSignal,
): AsyncGenerator<LoopStep, ToolResult> {
  const { id, name, input } = state.call;
  const tool = tools.get(name);
  if (tool?.kind !== "write") return errorResult(`${name} is not available`);
  try {
    if (state.plan !== undefined) return await tool.commit(state.plan, true);
    if (signal.aborted) return errorResult(INTERRUPTED);
    const planned = await tool.plan(input, signal);
    if (planned.status === "refused") return planned.result;
    if (signal.aborted) return errorResult(INTERRUPTED);
    yield { type: "call_planned", callId: id, plan: planned.plan };
    return await tool.commit(planned.plan, false);
  } catch {
    return errorResult(
      `${name} failed unexpectedly, and its change may or may not be there. Look before you try again`,
    );
  }
}

const INTERRUPTED = "Interrupted by the user before it ran to its end; nothing was changed by it";
const INTERRUPTED_CLIENT =
  "Interrupted by the user before the client gave a result; what it did is not known";

function resultBlock(id: string, results: ReadonlyMap<string, ToolResult>): ToolResultBlock {
  const result = results.get(id) ?? errorResult(INTERRUPTED);
  const block: ToolResultBlock = { type: "tool_result", tool_use_id: id, content: result.content };
  return result.isError ? { ...block, is_error: true } : block;
}

async function withId(
  id: string,
  run: Promise<ToolResult> | ToolResult,
): Promise<[string, ToolResult]> {
  return [id, await run];
}

function badInput(name: string, reason: string): ToolResult {
  return errorResult(
    `The input of ${name} is not valid JSON (${reason}); it was not run. Call it again`,
  );
}

function unknownTool(name: string, tools: ReadonlyMap<string, Tool>): ToolResult {
  return errorResult(`There is no tool "${name}". There are: ${[...tools.keys()].join(", ")}`);
}
