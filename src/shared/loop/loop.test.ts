import { describe, expect, test } from "vitest";
import { USER } from "../thread/entry.ts";
import { refusals, resultsOf, user } from "./history-fixture.ts";
import type { Said } from "./loop-fixture.ts";
import {
  call,
  createTurn,
  failure,
  MIXED,
  MIXED_STEPS,
  next,
  QUESTION,
  run,
  runToEnd,
} from "./loop-fixture.ts";
import { keyOf, ok, readTool, ticks } from "./tools-fixture.ts";

describe("a turn", () => {
  test("yields its steps in order: request, previews, answer, calls, results, and again", async () => {
    const turn = createTurn(MIXED);
    const steps = await run(turn);
    expect(steps).toHaveLength(MIXED_STEPS);
    const types = steps.map((step) =>
      "callId" in step ? `${step.type} ${step.callId}` : step.type,
    );
    expect(types.filter((type) => type !== "preview")).toEqual([
      "request_started",
      "answered",
      "call_finished r1",
      "call_finished r2",
      "call_planned w1",
      "call_finished w1",
      "call_planned w2",
      "call_finished w2",
      "results",
      "request_started",
      "answered",
      "call_finished r3",
      "call_finished x",
      "call_planned w3",
      "call_finished w3",
      "results",
      "request_started",
      "answered",
    ]);
    expect(turn.outcome).toEqual({ reason: "end_turn" });
  });

  test("gives every call one result, in the order of the calls, and sends what the API takes", async () => {
    const turn = createTurn(MIXED);
    await run(turn);
    expect([...resultsOf(turn.state.messages)]).toEqual([
      ["r1", "content of r1"],
      ["w1", "wrote w1"],
      ["r2", "content of r2"],
      ["w2", "wrote w2"],
      ["w3", "wrote w3"],
      ["r3", "content of r3"],
      ["x", expect.stringContaining('There is no tool "Nope". There are: Read')],
    ]);
    expect(turn.requests.flatMap((messages) => refusals(messages))).toEqual([]);
    expect(next(turn)).toEqual([]);
  });

  test("each request begins with the messages of the one before, unchanged", async () => {
    const turn = createTurn(MIXED);
    await run(turn);
    for (const [n, request] of turn.requests.entries()) {
      const before = turn.requests[n - 1] ?? [];
      expect(request.slice(0, before.length)).toEqual(before);
    }
    expect(turn.requests).toHaveLength(3);
  });

  test("ends at its limit of answers, and says so again when it is asked to go on", async () => {
    const script: Said[] = [1, 2, 3, 4].map((n) => ({ calls: [call(`r${n}`, "Read")] }));
    const turn = createTurn(script, { limits: { iterations: 3 } });
    expect(await runToEnd(turn)).toEqual({ reason: "iterations", limit: 3 });
    expect(turn.requests).toHaveLength(3);
    expect(next(turn)).toEqual([]);
    turn.outcome = undefined;
    await run(turn);
    expect(turn.outcome).toEqual({ reason: "iterations", limit: 3 });
    expect(turn.requests).toHaveLength(3);
  });

  test("messages that join stand behind the results and are sent with them", async () => {
    const waiting = [[], [{ origin: USER, message: user("Also this.") }]];
    const turn = createTurn(MIXED, { hooks: { joining: async () => waiting.shift() ?? [] } });
    await run(turn);
    expect(turn.requests[1]?.at(-1)).toEqual(user("Also this."));
    expect(turn.requests.flatMap((messages) => refusals(messages))).toEqual([]);
  });

  test("hooks: prepare gives what is sent, sampled comes after each answer and its results", async () => {
    const seen: string[] = [];
    const shortened = [[user("Summary.")]];
    const turn = createTurn(MIXED, {
      hooks: {
        prepare: async () => {
          const messages = shortened.shift();
          return { status: "ready", messages };
        },
        sampled: () => seen.push(`sampled ${turn.state.messages.length}`),
      },
    });
    await run(turn);
    expect(turn.requests.map((messages) => messages[0])).toEqual(Array(3).fill(user("Summary.")));
    expect(turn.state.messages[0]).toEqual(QUESTION);
    expect(seen).toEqual(["sampled 3", "sampled 5", "sampled 6"]);
  });
});

describe("readers and writers", () => {
  test("readers start while the model still speaks and run side by side", async () => {
    const running = new Set<string>();
    let most = 0;
    const open = Promise.withResolvers<void>();
    const slow = readTool("Slow", async (input) => {
      running.add(keyOf(input));
      most = Math.max(most, running.size);
      if (running.size === 2) open.resolve();
      await open.promise;
      return ok(`slow ${keyOf(input)}`);
    });
    const calls = [call("a", "Slow"), call("b", "Slow"), call("c", "Read")];
    const turn = createTurn([{ calls }], { tools: [slow] });
    await run(turn);
    expect(most).toBe(2);
    expect(turn.log.indexOf("read c")).toBeLessThan(turn.log.indexOf("model ended"));
  });

  test("writers start only after the answer, one after the other, behind all readers", async () => {
    const turn = createTurn([
      { calls: [call("w1", "Write"), call("r1", "Read"), call("w2", "Write"), call("r2", "Read")] },
    ]);
    await run(turn);
    expect(turn.log).toEqual([
      "read r1",
      "read r2",
      "model ended",
      "plan w1",
      "commit w1",
      "plan w2",
      "commit w2",
      "model ended",
    ]);
  });

  test("a writer waits for a reader that is slow", async () => {
    const gate = Promise.withResolvers<void>();
    const slow = readTool("Slow", async () => {
      await gate.promise;
      return ok("late");
    });
    const calls = [call("w1", "Write"), call("s", "Slow")];
    const turn = createTurn([{ calls }], { tools: [slow] });
    const running = run(turn);
    for (let n = 0; n < 20; n += 1) await ticks();
    expect(turn.log).toEqual(["model ended"]);
    gate.resolve();
    await running;
    expect(turn.effects).toEqual(["w1"]);
  });

  const ENDS: [string, Partial<Said>][] = [
    ["a failure", { fails: [failure("server_error")] }],
    ["a cut", { fails: [failure("cut")] }],
    ["the token limit", { stop: "max_tokens" }],
    ["a refusal", { stop: "refusal" }],
    ["a full window", { stop: "model_context_window_exceeded" }],
    ["a pause", { stop: "pause_turn" }],
    ["an end without asking for tools", { stop: "end_turn" }],
    ["a reason not known", { stop: "strange" }],
  ];
  test.each(ENDS)("what was started before %s is aborted and is no result", async (_what, end) => {
    const signals: AbortSignal[] = [];
    const watch = readTool("Watch", async (input, signal) => {
      signals.push(signal);
      return ok(`first ${keyOf(input)}`);
    });
    const calls = [call("a", "Watch"), call("w", "Write")];
    const turn = createTurn([{ text: "Well.", calls, ...end }], { tools: [watch] });
    await runToEnd(turn);
    expect(signals[0]?.aborted).toBe(true);
    const again = end.fails !== undefined;
    expect([...resultsOf(turn.state.messages).keys()]).toEqual(again ? ["a", "w"] : []);
    expect(turn.effects).toEqual(again ? ["w"] : []);
    expect(signals).toHaveLength(again ? 2 : 1);
    expect(turn.requests.flatMap((messages) => refusals(messages))).toEqual([]);
    expect(next(turn)).toEqual([]);
  });
});
