import { expect, test } from "vitest";
import type { Message } from "../thread/messages.ts";
import { runCalls, startRead } from "./calls.ts";
import { RESULT_LIMITS } from "./result-budget.ts";
import type { CallState, LoopStep } from "./steps.ts";
import type { Tool, ToolResult } from "./tool.ts";
import { keyOf, ok, readTool, ticks, writeTool } from "./tools-fixture.ts";

const call = (id: string, name: string, rest: Partial<CallState> = {}): CallState => ({
  call: { type: "tool_use", id, name, input: { key: id } },
  ...rest,
});

async function all(
  states: CallState[],
  tools: Tool[],
  { signal = new AbortController().signal, started = new Map<string, Promise<ToolResult>>() } = {},
): Promise<{ steps: LoopStep[]; message: Message }> {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const running = runCalls(states, started, byName, RESULT_LIMITS, signal);
  const steps: LoopStep[] = [];
  for (let next = await running.next(); ; next = await running.next()) {
    if (next.done && next.value) return { steps, message: next.value };
    if (next.done) throw new Error("It waits for somebody");
    steps.push(next.value);
  }
}

const contents = ({ content }: Message) =>
  content.map((block) => (block.type === "tool_result" ? block.content : block.type));

test("a call that has its result on disk is not run again and not told again", async () => {
  const never = readTool("Never", () => Promise.reject(new Error("it ran")));
  const states = [
    call("a", "Never", { result: ok("kept") }),
    call("b", "Gone", { result: ok("B") }),
  ];
  const { steps, message } = await all(states, [never]);
  expect(steps).toEqual([]);
  expect(contents(message)).toEqual(["kept", "B"]);
});

test("a plan on disk is committed as resumed and not planned again, also after an interrupt", async () => {
  const commits: [string, boolean][] = [];
  const write = writeTool("Write", {
    plan: () => Promise.reject(new Error("it planned")),
    commit: async (plan, resumed) => {
      commits.push([plan, resumed]);
      return ok("wrote");
    },
  });
  const signal = AbortSignal.abort();
  const { message } = await all([call("a", "Write", { plan: "P" })], [write], { signal });
  expect(commits).toEqual([["P", true]]);
  expect(contents(message)).toEqual(["wrote"]);
});

test("an interrupt during the plan stops the call before its commit", async () => {
  const stop = new AbortController();
  const write = writeTool("Write", {
    plan: async (input) => {
      stop.abort();
      return { status: "planned", plan: keyOf(input) };
    },
    commit: () => Promise.reject(new Error("it committed")),
  });
  const { steps, message } = await all([call("a", "Write")], [write], { signal: stop.signal });
  expect(steps.map((step) => step.type)).toEqual(["call_finished"]);
  expect(contents(message).join()).toContain("nothing was changed");
});

test("a refused plan is the result, and nothing is committed", async () => {
  const write = writeTool("Write", {
    plan: async () => ({ status: "refused", result: { ...ok("no such file"), isError: true } }),
    commit: () => Promise.reject(new Error("it committed")),
  });
  const { message } = await all([call("a", "Write")], [write]);
  expect(message.content).toEqual([
    { type: "tool_result", tool_use_id: "a", content: "no such file", is_error: true },
  ]);
});

test("a writer whose tool is gone after a restart is answered", async () => {
  const { message } = await all([call("a", "Write", { plan: "P" })], []);
  expect(contents(message).join()).toContain('There is no tool "Write"');
});

test("a result that is no error has no error mark", async () => {
  const { message } = await all([call("a", "Read")], [readTool("Read", async () => ok("text"))]);
  expect(message.content).toEqual([{ type: "tool_result", tool_use_id: "a", content: "text" }]);
});

test("a reader that was started while the model spoke is not started again", async () => {
  const never = readTool("Read", () => Promise.reject(new Error("it ran")));
  const started = new Map([["a", Promise.resolve(ok("early"))]]);
  const { message } = await all([call("a", "Read")], [never], { started });
  expect(contents(message)).toEqual(["early"]);
});

test("an abort settles a reader that does not look at its signal; what it says later is dropped", async () => {
  const stop = new AbortController();
  const gate = Promise.withResolvers<void>();
  const slow = readTool("Slow", async () => {
    await gate.promise;
    return ok("late");
  });
  const running = startRead(slow, {}, stop.signal);
  stop.abort();
  expect((await running).content).toContain("Interrupted");
  gate.resolve();
  await ticks();
  expect((await running).isError).toBe(true);
});

test("with the signal aborted before, a reader is not run at all", async () => {
  const ran: unknown[] = [];
  const read = readTool("Read", async (input) => {
    ran.push(input);
    return ok("x");
  });
  expect((await startRead(read, {}, AbortSignal.abort())).content).toContain("Interrupted");
  expect(ran).toEqual([]);
});

test("an abort after its end does not change a reader's result", async () => {
  const stop = new AbortController();
  const running = startRead(
    readTool("Read", async () => ok("done")),
    {},
    stop.signal,
  );
  await ticks();
  stop.abort();
  expect((await running).content).toBe("done");
});

test("results that are too large together are cut in what is told and in the message alike", async () => {
  const line = `${"y".repeat(900)}\n`.repeat(110);
  const read = readTool("Read", async () => ok(line));
  const write = writeTool("Write", { commit: async () => ok("wrote it") });
  const states = Array.from({ length: 24 }, (_, n) => call(`r${n}`, "Read"));
  const { steps, message } = await all([call("w", "Write"), ...states], [read, write]);
  expect(JSON.stringify(message).length).toBeLessThan(1_010_000);
  const told = steps.flatMap((step) =>
    step.type === "call_finished" ? [[step.callId, step.result.content]] : [],
  );
  const kept = message.content.map((block) =>
    block.type === "tool_result" ? [block.tool_use_id, block.content] : [],
  );
  expect(new Map(told as [string, string][])).toEqual(new Map(kept as [string, string][]));
  expect(contents(message)[0]).toBe("wrote it");
  expect(contents(message)[1]).toBe(line);
  expect(contents(message).at(-1)).toMatch(/\[\d+ bytes were left out here/);
});
