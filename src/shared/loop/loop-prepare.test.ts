import { describe, expect, test } from "vitest";
import type { Message } from "../thread/messages.ts";
import { refusals, textOf, user } from "./history-fixture.ts";
import type { LoopHooks, Prepared } from "./loop.ts";
import { call, createTurn, failure, QUESTION, run, runToEnd } from "./loop-fixture.ts";

/** Keeps what it was asked and answers from a list. */
function preparing(...answers: Prepared[]): { asked: boolean[]; hooks: LoopHooks } {
  const asked: boolean[] = [];
  return {
    asked,
    hooks: {
      prepare: async (tooLong) => {
        asked.push(tooLong);
        return answers.shift() ?? { status: "ready" };
      },
    },
  };
}

const SHORT: Prepared = { status: "ready", messages: [user("Summary."), QUESTION] };
const READY: Prepared = { status: "ready" };

describe("a prompt that proves too long", () => {
  test("is shortened and asked again, once, and the turn goes on", async () => {
    const { asked, hooks } = preparing(READY, SHORT);
    const turn = createTurn([{ text: "Fits.", fails: [failure("too_long")] }], { hooks });
    const steps = await run(turn);
    expect(turn.outcome).toEqual({ reason: "end_turn" });
    expect(asked).toEqual([false, true]);
    expect(turn.requests.map((messages) => textOf(messages))).toEqual([
      "Do it.",
      "Summary.\nDo it.",
    ]);
    expect(steps.find(({ type }) => type === "request_failed")).toMatchObject({
      next: { action: "retry", ms: 0 },
    });
  });

  test("and is so still ends the turn", async () => {
    const { asked, hooks } = preparing(READY, SHORT);
    const fails = [failure("too_long"), failure("too_long"), failure("too_long")];
    const turn = createTurn([{ fails }], { hooks });
    expect(await runToEnd(turn)).toEqual({ reason: "failed" });
    expect(asked).toEqual([false, true]);
    expect(turn.requests).toHaveLength(2);
  });

  test("is not shortened again where the next try fails in passing", async () => {
    const { asked, hooks } = preparing(READY, SHORT);
    const fails = [failure("too_long"), failure("overloaded")];
    const turn = createTurn([{ text: "Fits.", fails }], { hooks });
    expect(await runToEnd(turn)).toEqual({ reason: "end_turn" });
    expect(asked).toEqual([false, true, false]);
  });

  test("may be so once more behind another answer", async () => {
    const { asked, hooks } = preparing();
    const fails = [failure("too_long")];
    const turn = createTurn(
      [
        { calls: [call("r", "Read")], fails },
        { text: "Fits.", fails },
      ],
      {
        hooks,
      },
    );
    expect(await runToEnd(turn)).toEqual({ reason: "end_turn" });
    expect(asked).toEqual([false, true, false, true]);
  });
});

test("an answer that fills the window goes on behind a shorter conversation", async () => {
  const { asked, hooks } = preparing(READY, SHORT);
  const turn = createTurn(
    [{ text: "So far", stop: "model_context_window_exceeded" }, { text: "and so on." }],
    { hooks },
  );
  expect(await runToEnd(turn)).toEqual({ reason: "end_turn" });
  expect(asked).toEqual([false, true]);
});

test("what cannot be made to fit ends the turn before the model is asked", async () => {
  const refused = failure("too_long");
  const { hooks } = preparing({ status: "refused", failure: refused });
  const turn = createTurn([{ text: "Never said." }], { hooks });
  const steps = await run(turn);
  expect(steps).toMatchObject([
    { type: "request_failed", failure: refused, outcome: { reason: "failed" } },
  ]);
  expect(turn.requests).toEqual([]);
});

test("a turn that is to go on elsewhere pauses before the model is asked, and goes on", async () => {
  const { hooks } = preparing(READY, { status: "paused", ms: 500 });
  const turn = createTurn([{ calls: [call("w", "Write")] }, { text: "Done." }], { hooks });
  await run(turn);
  expect(turn.outcome).toEqual({ reason: "paused", ms: 500 });
  expect(turn.requests).toHaveLength(1);
  await run(turn);
  expect(turn.outcome).toEqual({ reason: "end_turn" });
  expect(turn.effects).toEqual(["w"]);
});

test("an interrupt while the conversation is made to fit ends the turn, and the next is valid", async () => {
  const started = Promise.withResolvers<void>();
  const hooks: LoopHooks = {
    prepare: async () => {
      started.resolve();
      await new Promise((resolve) => setTimeout(resolve, 5));
      return SHORT;
    },
  };
  const turn = createTurn([{ text: "Never said." }], { hooks });
  await run(turn, { interruptOn: started.promise });
  expect(turn.outcome).toEqual({ reason: "interrupted" });
  expect(turn.requests).toEqual([]);
  expect(refusals([...turn.state.messages, user("go on")])).toEqual([]);
});

describe("a fallback model", () => {
  const overloaded = (times: number) => Array(times).fill(failure("overloaded"));
  const THOUGHT: Message[] = [
    QUESTION,
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hm", signature: "signed" },
        { type: "text", text: "Yes." },
      ],
    },
    user("And now?"),
  ];

  async function models(fallback: string | undefined, fails: ReturnType<typeof failure>[]) {
    const turn = createTurn([{ thinking: "ah", text: "Here.", fails }], {
      history: THOUGHT,
      limits: { attempts: 5 },
    });
    if (fallback !== undefined) turn.ports.fallback = fallback;
    const steps = await run(turn);
    const asked = steps.flatMap((step) => (step.type === "request_started" ? [step.model] : []));
    return { turn, asked };
  }

  test("takes over behind two refusals for load, and is shown no thinking of another's", async () => {
    const { turn, asked } = await models("other", overloaded(2));
    expect(asked).toEqual(["claude-sonnet-5-5", "claude-sonnet-5-5", "other"]);
    expect(turn.outcome).toEqual({ reason: "end_turn" });
    expect(JSON.stringify(turn.requests[0])).toContain("thinking");
    expect(JSON.stringify(turn.requests[2])).not.toContain("thinking");
    // Nor is what it thinks itself kept for the model whose turn is next.
    expect(turn.state.messages.at(-1)).toEqual({
      role: "assistant",
      content: [{ type: "text", text: "Here." }],
    });
    expect(turn.pauses).toEqual([500, 0]);
  });

  test("is not needed where the first retry is answered, and not there where none is named", async () => {
    expect((await models("other", overloaded(1))).asked).not.toContain("other");
    expect((await models(undefined, overloaded(4))).asked).toHaveLength(5);
  });

  test("does not take over from a server that fails otherwise", async () => {
    const fails = Array(4).fill(failure("server_error"));
    expect((await models("other", fails)).asked).not.toContain("other");
  });

  test("that is overloaded too is tried as often as is left", async () => {
    const { turn, asked } = await models("other", overloaded(9));
    expect(turn.outcome).toEqual({ reason: "failed" });
    expect(asked.slice(2)).toEqual(["other", "other", "other"]);
  });
});
