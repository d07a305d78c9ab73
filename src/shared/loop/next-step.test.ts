import { describe, expect, test } from "vitest";
import type { AssistantBlock } from "../thread/messages.ts";
import { textOf } from "./history-fixture.ts";
import { answerOf } from "./loop-fixture.ts";
import type { Answer } from "./model.ts";
import { nextStep } from "./next-step.ts";

const TEXT: AssistantBlock = { type: "text", text: "So far." };
const THINKING: AssistantBlock = { type: "thinking", thinking: "hm", signature: "signed" };
const CALL: AssistantBlock = { type: "tool_use", id: "a", name: "Write", input: {} };

const answer = (stopReason: string, content: AssistantBlock[], rest: Partial<Answer> = {}) => ({
  ...answerOf({}),
  stopReason,
  content,
  ...rest,
});
const decide = (stop: string, content: AssistantBlock[], cuts = 0, rest: Partial<Answer> = {}) =>
  nextStep(answer(stop, content, rest), cuts, 2);

const OTHER_STOPS = [
  "end_turn",
  "stop_sequence",
  "pause_turn",
  "max_tokens",
  "refusal",
  "model_context_window_exceeded",
  "compaction",
  "",
  "constructor",
];

test("tools are run where the model stopped for them, and the answer is kept as it is", () => {
  const decision = decide("tool_use", [THINKING, TEXT, CALL]);
  expect(decision).toMatchObject({ next: "tools", calls: [{ call: CALL }] });
  expect(decision.message?.content).toEqual([THINKING, TEXT, CALL]);
});

test.each(OTHER_STOPS)("no call is kept or run where the answer stopped with %j", (stop) => {
  const decision = decide(stop, [THINKING, TEXT, CALL]);
  expect(decision.next).not.toBe("tools");
  expect(decision.calls).toEqual([]);
  expect(decision.message?.content ?? []).not.toContainEqual(CALL);
});

test.each([...OTHER_STOPS, "tool_use"])(
  "no message is empty or ends in thinking after %j",
  (stop) => {
    for (const content of [
      [],
      [THINKING],
      [THINKING, TEXT],
      [TEXT, THINKING],
      [TEXT, THINKING, CALL],
    ]) {
      const { message } = decide(stop, content);
      expect(message?.content).not.toEqual([]);
      expect(message?.content.at(-1)?.type).not.toBe("thinking");
    }
  },
);

test("thinking before what was said stays with it", () => {
  expect(decide("end_turn", [THINKING, TEXT]).message?.content).toEqual([THINKING, TEXT]);
});

test("malformed input is kept with its call, and the client is told", () => {
  const decision = decide("tool_use", [CALL], 0, { malformed: new Map([["a", "it breaks"]]) });
  expect(decision.calls).toEqual([{ call: CALL, malformed: "it breaks" }]);
  expect(decision.problem).toMatchObject({ kind: "malformed_input", continues: true });
});

test("an id of the prototype's is an id like any other", () => {
  const calls = ["constructor", "__proto__", "toString"].map((id) => ({ ...CALL, id }) as const);
  expect(decide("tool_use", calls).calls).toEqual(calls.map((call) => ({ call })));
  const malformed = new Map([["__proto__", "it breaks"]]);
  expect(decide("tool_use", calls, 0, { malformed }).calls[1]?.malformed).toBe("it breaks");
});

describe("an answer cut by the token limit", () => {
  test("is continued, with advice that fits what was cut", () => {
    const text = decide("max_tokens", [TEXT]);
    if (text.next !== "continue") throw new Error(text.next);
    expect(textOf([text.continuation])).toContain("Go on exactly where it stopped");
    const call = decide("max_tokens", [TEXT], 1, { cutCall: true });
    if (call.next !== "continue") throw new Error(call.next);
    expect(textOf([call.continuation])).toContain("smaller pieces");
    expect(call.problem).toMatchObject({ kind: "output_limit", continues: true });
  });

  test("is continued even where nothing of it can be kept", () => {
    expect(decide("max_tokens", [THINKING])).toMatchObject({
      next: "continue",
      message: undefined,
    });
  });

  test("ends the turn when it was the last one allowed; what was said stays", () => {
    expect(decide("max_tokens", [TEXT], 2)).toMatchObject({
      next: "end",
      outcome: { reason: "stopped" },
      problem: { kind: "output_limit", continues: false },
      message: { content: [TEXT] },
    });
  });
});

test("a pause is continued by the user's side, as often as a cut", () => {
  const first = decide("pause_turn", [TEXT]);
  expect(first).toMatchObject({ next: "continue", continuation: { role: "user" } });
  const last = decide("pause_turn", [TEXT], 2);
  expect(last).toMatchObject({ next: "end", outcome: { reason: "stopped" } });
});

test("a full window lets the answer go on behind a shorter conversation, a fixed number of times", () => {
  const window = "model_context_window_exceeded";
  expect(decide(window, [TEXT], 1)).toMatchObject({
    next: "continue",
    problem: { kind: "context_window", continues: true },
  });
  expect(decide(window, [TEXT], 2)).toMatchObject({
    next: "end",
    outcome: { reason: "stopped" },
    problem: { kind: "context_window", continues: false },
  });
});

test("a refusal and an unknown reason end the turn, each in its own way", () => {
  expect(decide("refusal", [TEXT])).toEqual({
    message: undefined,
    calls: [],
    next: "end",
    outcome: { reason: "refusal" },
  });
  const strange = decide("x".repeat(500), [TEXT]);
  expect(strange).toMatchObject({
    outcome: { reason: "stopped" },
    problem: { kind: "unknown_stop" },
  });
  expect(strange.problem?.message.length).toBeLessThan(250);
});
