import type { ScriptStep, ToolStep } from "../script.ts";
import type { Call, View } from "./view.ts";

/**
 * A piece of work in several model calls: it yields the tool calls it wants, gets their results and
 * returns what to say at the end. Each model call runs it again from the start over the calls made so
 * far, so it must want the same things for the same results; the fake model itself keeps nothing.
 */
export type Procedure<T = string> = Generator<ToolStep[], T, Call[]>;

export function play(procedure: Procedure, view: View, thinking?: string): ScriptStep {
  const made = [...view.calls];
  let next = procedure.next();
  while (!next.done) {
    const wanted = next.value;
    const missing = wanted.find(({ name }) => !view.tools.has(name));
    if (missing) return { text: `I can't do that here: no tool ${missing.name} is offered.` };
    const results = wanted.flatMap((tool) => takeCall(made, tool));
    if (results.length < wanted.length) return { tools: wanted, thinking };
    next = procedure.next(results);
  }
  return { text: next.value };
}

// Passes over calls that this procedure did not ask for (a script's, say).
function takeCall(made: Call[], tool: ToolStep): Call[] {
  const at = made.findIndex(({ name, input }) => name === tool.name && same(input, tool.input));
  return at < 0 ? [] : made.splice(at, 1);
}

function same(left: Record<string, unknown>, right: Record<string, unknown>): boolean {
  const sorted = (input: Record<string, unknown>) => JSON.stringify(Object.entries(input).sort());
  return sorted(left) === sorted(right);
}

/** Asks for one tool call and hands back its result. */
export function* call(name: string, input: Record<string, unknown>): Procedure<Call> {
  const [result] = yield [{ name, input }];
  return result ?? { name, input, result: "No result", isError: true };
}
