import { expect, test } from "vitest";
import { runCalls } from "./calls.ts";
import type { CallAnswer } from "./pending-action.ts";
import { formatDuration } from "./pending-action.ts";
import { RESULT_LIMITS } from "./result-budget.ts";
import type { CallState, LoopStep } from "./steps.ts";
import type { Tool } from "./tool.ts";
import { ok, readTool, writeTool } from "./tools-fixture.ts";

const state = (id: string, name: string, rest: Partial<CallState> = {}): CallState => ({
  call: { type: "tool_use", id, name, input: { key: id } },
  ...rest,
});
const asks = (id: string): CallState => state(id, "Write", { permission: "ask" });
const client = (id: string): CallState => state(id, "Map", { permission: "client" });

function tools(log: string[]): Map<string, Tool> {
  const list: Tool[] = [
    readTool("Read", async () => ok("read")),
    writeTool("Write", {
      commit: async (plan) => {
        log.push(plan);
        return ok(`wrote ${plan}`);
      },
    }),
    { kind: "client", name: "Map", description: "m", input_schema: {} },
  ];
  return new Map(list.map((tool) => [tool.name, tool]));
}

/** Runs the calls once; `told` are the contents of the one message, none where somebody is waited for. */
async function once(
  states: CallState[],
  answers: Record<string, CallAnswer> | undefined,
  signal = new AbortController().signal,
) {
  const log: string[] = [];
  const lookUp = answers && ((id: string) => answers[id]);
  const running = runCalls(states, new Map(), tools(log), RESULT_LIMITS, signal, lookUp);
  const steps: LoopStep[] = [];
  let next = await running.next();
  for (; !next.done; next = await running.next()) steps.push(next.value);
  const finished = steps.flatMap((step) => (step.type === "call_finished" ? [step.callId] : []));
  const told = next.value?.content.map((block) =>
    block.type === "tool_result" ? `${block.is_error ? "error: " : ""}${block.content}` : "",
  );
  return { log, finished, told };
}

const allow: CallAnswer = { type: "allow" };

test("what waits for nobody runs, and then the calls stand still", async () => {
  const { log, finished, told } = await once(
    [asks("w1"), state("r", "Read"), state("w2", "Write"), client("c")],
    {},
  );
  expect({ log, finished, told }).toEqual({ log: ["w2"], finished: ["r", "w2"], told: undefined });
});

test("an allowed change keeps its place behind one that is still open, a denied one does not wait", async () => {
  const states = [asks("w1"), asks("w2"), asks("w3"), client("c")];
  const result: CallAnswer = { type: "result", content: "42", isError: false };
  const { log, finished, told } = await once(states, {
    w2: allow,
    w3: { type: "deny" },
    c: result,
  });
  expect({ log, finished, told }).toEqual({ log: [], finished: ["w3", "c"], told: undefined });
});

test("with all answers there is one message with all results in the order of the calls", async () => {
  const { log, told } = await once([client("c"), asks("w1"), state("r", "Read"), asks("w2")], {
    c: { type: "result", content: " ", isError: true },
    w1: { type: "deny", message: "not there" },
    w2: allow,
  });
  expect(log).toEqual(["w2"]);
  expect(told).toEqual([
    "error: (no output)",
    expect.stringMatching(/^error: The user denied .*"not there"/),
    "read",
    "wrote w2",
  ]);
});

test("what nobody answered is told with its time, and it is not run", async () => {
  const late: CallAnswer = { type: "timeout", ms: 86_400_000 };
  const { log, told } = await once([asks("w"), client("c")], { w: late, c: late });
  expect(log).toEqual([]);
  expect(told?.[0]).toMatch(/^error: Nobody answered within 1 day .*nothing was changed/);
  expect(told?.[1]).toMatch(/^error: The client gave no result of Map within 1 day; .*not known/);
});

test("an interrupt closes what waits and what was allowed; what the client did is told as it is", async () => {
  const done: CallAnswer = { type: "result", content: "done", isError: false };
  const { log, told } = await once(
    [asks("w1"), asks("w2"), client("c1"), client("c2")],
    { w2: allow, c1: done },
    AbortSignal.abort(),
  );
  expect(log).toEqual([]);
  expect(told).toEqual([
    expect.stringMatching(/^error: Interrupted .*nothing was changed/),
    expect.stringMatching(/^error: Interrupted .*nothing was changed/),
    "done",
    expect.stringMatching(/^error: Interrupted .*not known/),
  ]);
});

test("an allowed change whose plan is on disk is carried out, also after an interrupt", async () => {
  const planned = { ...asks("w"), plan: "P" };
  const { log, told } = await once([planned], { w: allow }, AbortSignal.abort());
  expect({ log, told }).toEqual({ log: ["P"], told: ["wrote P"] });
});

test("where nobody can answer, a call that needs it is refused", async () => {
  const { log, told } = await once([asks("w"), state("c", "Map")], undefined);
  expect(log).toEqual([]);
  for (const each of told ?? []) expect(each).toMatch(/^error: Refused: .*nobody can give/);
  expect(told).toHaveLength(2);
});

test("input that is no JSON is answered, and nobody is waited for", async () => {
  const { told } = await once([{ ...client("c"), malformed: "cut" }], {});
  expect(told?.[0]).toMatch(/^error: .*not valid JSON/);
});

test("a client's result is held to the size of any other", async () => {
  const result: CallAnswer = { type: "result", content: "x".repeat(900_000), isError: false };
  const { told } = await once([client("a"), client("b")], { a: result, b: result });
  for (const each of told ?? []) expect(each.length).toBeLessThan(121_000);
  expect(told?.[0]).toMatch(/bytes were left out here/);
});

test.each([
  [1, "1 millisecond"],
  [1500, "1500 milliseconds"],
  [2000, "2 seconds"],
  [90_000, "90 seconds"],
  [3_600_000, "1 hour"],
  [172_800_000, "2 days"],
])("%d ms is said as %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});
