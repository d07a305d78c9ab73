import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { refusals, resultsOf, textOf } from "./history-fixture.ts";
import type { Said, SaidCall, Turn } from "./loop-fixture.ts";
import {
  call,
  createTurn,
  failure,
  MIXED,
  MIXED_STEPS,
  next,
  over,
  run,
  runToEnd,
} from "./loop-fixture.ts";
import { ok, readTool, ticks, writeTool } from "./tools-fixture.ts";

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
