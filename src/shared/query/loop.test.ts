import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Said, SaidCall, Turn } from "./loop-fixture.ts";
import {
  createTurn,
  failure,
  keyOf,
  ok,
  over,
  QUESTION,
  readTool,
  refusals,
  resultsOf,
  run,
  runToEnd,
  textOf,
  ticks,
  user,
  writeTool,
} from "./loop-fixture.ts";

const call = (id: string, name: string): SaidCall => ({ id, name });
/** A turn with readers and writers, mixed, over two answers, and a last one. */
const MIXED: Said[] = [
  {
    thinking: "hm",
    text: "I look and write.",
    calls: [call("r1", "Read"), call("w1", "Write"), call("r2", "Read"), call("w2", "Write")],
  },
  { text: "Once more.", calls: [call("w3", "Write"), call("r3", "Read"), call("x", "Nope")] },
  { text: "All is done." },
];
const MIXED_STEPS = 31;

/** What the API is sent when the user goes on after this turn. */
const next = (turn: Turn) => refusals([...turn.state.messages, user("Go on.")]);

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
    const waiting = [[], [user("Also this.")]];
    const turn = createTurn(MIXED, { hooks: { joining: async () => waiting.shift() ?? [] } });
    await run(turn);
    expect(turn.requests[1]?.at(-1)).toEqual(user("Also this."));
    expect(turn.requests.flatMap((messages) => refusals(messages))).toEqual([]);
  });

  test("hooks: prepare gives what is sent, sampled is told of each answer, stopped of the last", async () => {
    const seen: string[] = [];
    const turn = createTurn(MIXED, {
      hooks: {
        prepare: async (messages) => [user("Summary."), ...messages.slice(1)],
        sampled: (messages) => seen.push(`sampled ${messages.length}`),
        stopped: async (messages) => {
          seen.push(`stopped ${messages.length}`);
        },
      },
    });
    await run(turn);
    expect(turn.requests.map((messages) => messages[0])).toEqual(Array(3).fill(user("Summary.")));
    expect(turn.state.messages[0]).toEqual(QUESTION);
    expect(seen).toEqual(["sampled 2", "sampled 4", "sampled 6", "stopped 6"]);
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

describe("an interrupt", () => {
  const table = Array.from({ length: MIXED_STEPS + 1 }, (_, n) => n);

  test.each(table)("before step %i leaves a history that the API takes", async (n) => {
    for (const deaf of [false, true]) {
      const turn = createTurn(MIXED, { deaf });
      await run(turn, { interruptBefore: n });
      // A final answer that was complete stays one.
      const reasons = n >= MIXED_STEPS - 1 ? ["end_turn", "interrupted"] : ["interrupted"];
      if (!deaf) expect(reasons).toContain(turn.outcome?.reason);
      expect(next(turn)).toEqual([]);
      told(turn);
    }
  });

  test.each(table)("before step %i, and a crash at every step after it, as well", async (n) => {
    for (let crashAt = n; crashAt < MIXED_STEPS; crashAt += 1) {
      const turn = createTurn(MIXED);
      await run(turn, { interruptBefore: n, crashAt, lost: crashAt % 2 === 0 });
      await runToEnd(turn);
      expect(next(turn)).toEqual([]);
      told(turn);
    }
  });

  test("LOOP-01: the call that has finished keeps its content, the one that runs is told off", async () => {
    const hang = readTool("Hang", () => new Promise(() => {}));
    const calls = [call("a", "Read"), call("b", "Hang"), call("w", "Write")];
    const turn = createTurn([{ text: "checking", calls }], { tools: [hang] });
    // 0 request, 1-2 text, 3-5 calls, 6 answered, 7 the result of a: b runs.
    await run(turn, { interruptBefore: 8 });
    const results = resultsOf(turn.state.messages);
    expect(results.get("a")).toBe("content of a");
    expect(results.get("b")).toContain("Interrupted by the user");
    expect(results.get("w")).toContain("Interrupted by the user");
    expect(turn.effects).toEqual([]);
    expect(turn.state.messages[2]?.content.map((block) => block.type)).toEqual(
      Array(3).fill("tool_result"),
    );
    expect(next(turn)).toEqual([]);
  });

  test("LOOP-01: between the end of the answer and the first tool, every call is told off", async () => {
    const calls = [call("w1", "Write"), call("w2", "Write")];
    const turn = createTurn([{ text: "checking", calls }]);
    // 0 request, 1-2 text, 3-4 calls, 5 answered.
    await run(turn, { interruptBefore: 6 });
    expect([...resultsOf(turn.state.messages).values()].join()).toMatch(
      /^Interrupted.*Interrupted/,
    );
    expect(turn.effects).toEqual([]);
    expect(next(turn)).toEqual([]);
  });

  test("LOOP-07: a writer in its commit is carried out, and the model is told that it was", async () => {
    const gate = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const landed: string[] = [];
    const slow = writeTool("Slow", {
      commit: async (plan) => {
        begun.resolve();
        await gate.promise;
        landed.push(plan);
        return ok(`wrote ${plan}`);
      },
    });
    const turn = createTurn([{ calls: [call("s", "Slow"), call("w", "Write")] }], {
      tools: [slow],
    });
    const running = run(turn, { interruptOn: begun.promise });
    for (let n = 0; n < 10; n += 1) await ticks();
    expect([turn.interrupted, turn.outcome]).toEqual([true, undefined]);
    gate.resolve();
    await running;
    expect(landed).toEqual(["s"]);
    const results = resultsOf(turn.state.messages);
    expect(results.get("s")).toBe("wrote s");
    expect(results.get("w")).toContain("nothing was changed");
    expect(turn.effects).toEqual([]);
    expect(next(turn)).toEqual([]);
  });

  test("while the model speaks keeps what was said, and whole characters only", async () => {
    // The fixture's model speaks in two halves: this one breaks within the character.
    const turn = createTurn([{ text: "xx\u{1F30D}xx" }]);
    await run(turn, { interruptBefore: 2 });
    expect(textOf(turn.state.messages)).toContain("xx");
    expect(next(turn)).toEqual([]);
  });

  test("that comes before anything was said leaves only its mark", async () => {
    const turn = createTurn(MIXED);
    await run(turn, { interruptBefore: 0 });
    expect(turn.requests).toEqual([]);
    expect(turn.state.messages.map((message) => message.role)).toEqual(["user", "user"]);
  });

  test("during the pause before a retry ends it", async () => {
    const turn = createTurn([{ text: "Late.", fails: [failure("overloaded")] }]);
    const asleep = Promise.withResolvers<void>();
    turn.ports.sleep = async (_ms, signal) => {
      asleep.resolve();
      await new Promise((done) => signal.addEventListener("abort", done));
    };
    await run(turn, { interruptOn: asleep.promise });
    expect(turn.outcome).toEqual({ reason: "interrupted" });
    expect(turn.requests).toHaveLength(1);
    expect(next(turn)).toEqual([]);
  });
});

/** No result says that something was done which was not, or not done which was. */
function told(turn: Turn): void {
  expect(new Set(turn.effects).size).toBe(turn.effects.length);
  for (const [id, content] of resultsOf(turn.state.messages)) {
    if (content.startsWith("wrote")) expect(turn.effects).toContain(id);
    if (content.includes("nothing was changed")) expect(turn.effects).not.toContain(id);
  }
  const results = resultsOf(turn.state.messages);
  for (const id of turn.effects) expect(results.get(id)).toBe(`wrote ${id}`);
}

describe("a crash", () => {
  const table = Array.from({ length: MIXED_STEPS }, (_, n) => n);

  test.each(table)("at step %i changes neither effects nor history", async (crashAt) => {
    const undisturbed = createTurn(MIXED);
    await run(undisturbed);
    for (const lost of [false, true]) {
      const turn = createTurn(MIXED);
      const steps = await run(turn, { crashAt, lost });
      expect(steps).toHaveLength(crashAt + 1);
      expect(await runToEnd(turn)).toEqual({ reason: "end_turn" });
      expect(turn.effects).toEqual(["w1", "w2", "w3"]);
      expect(turn.state).toEqual(undisturbed.state);
    }
  });

  test("at every step, one after the other, still comes to the end", async () => {
    const undisturbed = createTurn(MIXED);
    await run(undisturbed);
    const turn = createTurn(MIXED);
    // Dies as soon as one more step than the last time that was lasting is on disk.
    for (let n = 0; !over(turn) && n < 200; n += 1) {
      const before = JSON.stringify(turn.state);
      for (let crashAt = 0; JSON.stringify(turn.state) === before && !over(turn); crashAt += 1) {
        await run(turn, { crashAt });
      }
    }
    expect(turn.effects).toEqual(["w1", "w2", "w3"]);
    expect(turn.state).toEqual(undisturbed.state);
  });
});

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
    expect(turn.outcome).toEqual({ reason: "wait", ms: 30_000 });
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
      problem: { kind: "malformed_input", goesOn: true },
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

describe("whatever the model says and whatever happens", () => {
  const NAMES = [
    "Read",
    "Write",
    "Write",
    "Refuse",
    "Nope",
    "Throw",
    "Reject",
    "BadPlan",
    "BadCommit",
  ];
  const STOPS = ["max_tokens", "refusal", "pause_turn", "end_turn", "stop_sequence", "strange"];
  const said = fc.record(
    {
      thinking: fc.constant("hm"),
      text: fc.constantFrom("", "  ", "Hello.", "xx\u{1F30D}xx"),
      names: fc.array(fc.tuple(fc.constantFrom(...NAMES), fc.nat(9)), { maxLength: 4 }),
      stop: fc.option(fc.constantFrom(...STOPS), { nil: undefined, freq: 3 }),
      cutCall: fc.boolean(),
      fails: fc.array(
        fc.constantFrom(failure("cut"), failure("rate_limited", 9_000), failure("rejected")),
        { maxLength: 3 },
      ),
    },
    { requiredKeys: ["names"] },
  );
  const script = fc.array(said, { maxLength: 4 }).map((answers) =>
    answers.map(({ names, stop, ...rest }, n): Said => {
      const calls = names.map(([name, luck], at): SaidCall => {
        const id = `c${n}_${at}`;
        return luck === 0 ? { id, name, malformed: "it ends early" } : { id, name };
      });
      return { ...rest, calls, ...(stop === undefined ? {} : { stop }) };
    }),
  );
  const crash = fc.record({ crashAt: fc.nat(12), lost: fc.boolean() });

  test("crashes change neither the history nor what was done", async () => {
    await fc.assert(
      fc.asyncProperty(script, fc.array(crash, { maxLength: 6 }), async (answers, crashes) => {
        const undisturbed = createTurn(answers);
        await runToEnd(undisturbed);
        const turn = createTurn(answers);
        for (const course of crashes) await run(turn, course);
        await runToEnd(turn);
        expect(turn.state.messages).toEqual(undisturbed.state.messages);
        expect(turn.outcome).toEqual(undisturbed.outcome);
        expect(turn.effects).toEqual(undisturbed.effects);
        expect(turn.requests.flatMap((messages) => refusals(messages))).toEqual([]);
        expect(next(turn)).toEqual([]);
        told(turn);
      }),
      { numRuns: 400 },
    );
  });

  test("an interrupt among crashes leaves a valid history, and no effect twice or untold", async () => {
    await fc.assert(
      fc.asyncProperty(
        script,
        fc.array(crash, { maxLength: 4 }),
        fc.nat(30),
        fc.boolean(),
        fc.array(crash, { maxLength: 3 }),
        async (answers, before, interruptBefore, deaf, after) => {
          const turn = createTurn(answers, { deaf });
          for (const course of before) await run(turn, course);
          const [first, ...rest] = after;
          await run(turn, { ...first, interruptBefore });
          for (const course of rest) await run(turn, course);
          await runToEnd(turn);
          expect(next(turn)).toEqual([]);
          told(turn);
        },
      ),
      { numRuns: 400 },
    );
  });
});
