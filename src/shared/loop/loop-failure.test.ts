import { describe, expect, test } from "vitest";
import { refusals, resultsOf, textOf } from "./history-fixture.ts";
import type { Said } from "./loop-fixture.ts";
import { call, createTurn, failure, next, over, QUESTION, run, runToEnd } from "./loop-fixture.ts";

describe("a model that fails", () => {
  test("is asked again after a pause that doubles; the turn goes on as if nothing had been", async () => {
    const fails = [failure("overloaded"), failure("cut"), failure("stalled")];
    const turn = createTurn([{ text: "Late.", fails }], { limits: { attempts: 5 } });
    expect(await runToEnd(turn)).toEqual({ reason: "end_turn" });
    expect(turn.pauses).toEqual([500, 1000, 2000]);
    expect(turn.requests).toHaveLength(4);
    expect(textOf(turn.state.messages)).toBe("Do it.\nLate.");
  });

  test("counts its tries anew after each answer", async () => {
    const twice = [failure("overloaded"), failure("overloaded")];
    const script: Said[] = [
      { calls: [call("r", "Read")], fails: twice },
      { text: "Late.", fails: twice },
    ];
    const turn = createTurn(script);
    expect(await runToEnd(turn)).toEqual({ reason: "end_turn" });
    expect(turn.pauses).toEqual([500, 1000, 500, 1000]);
  });

  test("too often ends the turn, with nothing kept of what it said", async () => {
    const turn = createTurn([{ text: "No.", fails: Array(9).fill(failure("server_error")) }]);
    const steps = await run(turn);
    expect(turn.outcome).toEqual({ reason: "failed" });
    expect(steps.at(-1)).toMatchObject({ attempt: 3, next: { action: "give_up" } });
    expect(turn.state.messages).toEqual([QUESTION]);
  });

  test.each(["rejected", "too_long", "too_large"] as const)(
    "with %s is not asked again",
    async (kind) => {
      const turn = createTurn([{ fails: [failure(kind)] }]);
      expect(await runToEnd(turn)).toEqual({ reason: "failed" });
      expect(turn.requests).toHaveLength(1);
    },
  );

  test("and asks for a long wait: the turn pauses, keeps its count, and goes on later", async () => {
    const fails = [failure("rate_limited", 30_000), failure("rate_limited", 30_000)];
    const turn = createTurn([{ text: "Late.", fails }]);
    await run(turn);
    expect(turn.outcome).toEqual({ reason: "paused", ms: 30_000 });
    expect(turn.state.attempt).toBe(1);
    await run(turn);
    expect(turn.state.attempt).toBe(2);
    await run(turn);
    expect(turn.outcome).toEqual({ reason: "end_turn" });
    expect(turn.pauses).toEqual([]);
  });
});

describe("an answer that is not as it should be", () => {
  test("malformed input is answered and never run; the others of the answer are", async () => {
    const calls = [
      { ...call("m1", "Read"), malformed: "it ends early" },
      { ...call("m2", "Write"), malformed: "it ends early" },
      call("w", "Write"),
    ];
    const turn = createTurn([{ calls }, { text: "Done." }]);
    const steps = await run(turn);
    expect(turn.log.filter((line) => line.startsWith("read"))).toEqual([]);
    expect(turn.effects).toEqual(["w"]);
    const results = resultsOf(turn.state.messages);
    expect(results.get("m1")).toContain("The input of Read is not valid JSON (it ends early)");
    expect(results.get("m2")).toContain("it was not run");
    expect(steps.find((step) => step.type === "answered")).toMatchObject({
      problem: { kind: "malformed_input", continues: true },
    });
    expect(next(turn)).toEqual([]);
  });

  test("cut inside a tool call: not run, advised to use smaller pieces, gone on", async () => {
    const cut: Said = { text: "I write.", stop: "max_tokens", cutCall: true };
    const turn = createTurn([cut, { calls: [call("w", "Write")] }, { text: "Done." }]);
    expect(await runToEnd(turn)).toEqual({ reason: "end_turn" });
    expect(textOf(turn.requests[1] ?? [])).toContain("smaller pieces");
    expect(turn.requests[1]?.at(-1)?.role).toBe("user");
    expect(turn.effects).toEqual(["w"]);
    expect(turn.requests.flatMap((messages) => refusals(messages))).toEqual([]);
  });

  test("a whole call before the cut is not run either", async () => {
    const turn = createTurn([{ text: "x", calls: [call("w", "Write")], stop: "max_tokens" }]);
    expect(await runToEnd(turn)).toEqual({ reason: "end_turn" });
    expect(turn.effects).toEqual([]);
  });

  test("cut again and again ends the turn after the limit, also over crashes", async () => {
    const cut: Said = { text: "la la", stop: "max_tokens" };
    const turn = createTurn(Array(9).fill(cut));
    while (!over(turn)) await run(turn, { crashAt: 3 });
    expect(turn.outcome).toEqual({ reason: "stopped" });
    expect(turn.requests).toHaveLength(3);
    expect(next(turn)).toEqual([]);
  });

  test("a refusal keeps nothing of the answer and runs nothing", async () => {
    const turn = createTurn([{ text: "I", calls: [call("w", "Write")], stop: "refusal" }]);
    expect(await runToEnd(turn)).toEqual({ reason: "refusal" });
    expect(turn.state.messages).toEqual([QUESTION]);
    expect(turn.effects).toEqual([]);
  });

  test("a pause goes on, with a request that the API takes, and not for ever", async () => {
    const pause: Said = { text: "I look around.", stop: "pause_turn" };
    const once = createTurn([pause, { text: "Done." }]);
    expect(await runToEnd(once)).toEqual({ reason: "end_turn" });
    expect(once.requests.flatMap((messages) => refusals(messages))).toEqual([]);
    const ever = createTurn(Array(99).fill(pause));
    await runToEnd(ever);
    expect(ever.requests.length).toBeLessThanOrEqual(10);
    expect(next(ever)).toEqual([]);
  });

  test.each([
    ["nothing", {}],
    ["white space", { text: " \n\t" }],
    ["thinking only", { thinking: "hm" }],
    ["tool_use without a call", { stop: "tool_use" }],
    ["thinking behind which its call was cut", { thinking: "hm", stop: "max_tokens" }],
  ] satisfies [string, Said][])("%s leaves no message", async (_what, said) => {
    const turn = createTurn([said]);
    expect((await runToEnd(turn))?.reason).toBe("end_turn");
    expect(turn.state.messages.filter((message) => textOf([message]) === "")).toEqual([]);
    expect(turn.requests.flatMap((messages) => refusals(messages))).toEqual([]);
    expect(next(turn)).toEqual([]);
  });
});

describe("a tool that breaks its promise", () => {
  test.each(["Throw", "Reject", "BadPlan", "BadCommit"])(
    "%s gives a result, nothing else",
    async (name) => {
      const turn = createTurn([
        { calls: [call("t", name), call("w", "Write")] },
        { text: "Done." },
      ]);
      expect(await runToEnd(turn)).toEqual({ reason: "end_turn" });
      const results = resultsOf(turn.state.messages);
      expect(results.get("t")).toContain(`${name} failed unexpectedly`);
      expect(results.get("t")).not.toContain("secret detail");
      expect(results.get("w")).toBe("wrote w");
      expect(next(turn)).toEqual([]);
    },
  );

  test("a reader that throws before an answer that fails is left alone", async () => {
    const turn = createTurn([{ calls: [call("t", "Throw")], fails: [failure("cut")] }]);
    expect(await runToEnd(turn)).toEqual({ reason: "end_turn" });
  });
});
