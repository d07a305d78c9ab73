import { expect, test } from "vitest";
import { USER } from "../thread/entry.ts";
import type { Message } from "../thread/messages.ts";
import { user } from "./history-fixture.ts";
import { call, createTurn, next, run, runToEnd } from "./loop-fixture.ts";
import type { CallAnswer } from "./pending-action.ts";

/** A hook that gives each of these once, and what it was asked with. */
function joining(...messages: Message[]) {
  const drafts = messages.map((message) => ({ origin: USER, message }));
  const asked: number[] = [];
  return {
    asked,
    hook: async (history: readonly Message[]) => {
      asked.push(history.length);
      return drafts.splice(0);
    },
  };
}

test("what joins is asked for before each model call, and comes behind the results in order", async () => {
  const { asked, hook } = joining();
  const [tea, milk] = [user("Tea."), user("Milk.")];
  const turn = createTurn([{ calls: [call("r", "Read")] }, { text: "Done." }], {
    hooks: {
      async joining(history) {
        await hook(history);
        return history.length > 1 ? [tea, milk].map((message) => ({ origin: USER, message })) : [];
      },
    },
  });
  await runToEnd(turn);
  expect(asked).toEqual([1, 3]);
  expect(turn.requests[1]?.slice(-2)).toEqual([tea, milk]);
  expect(next(turn)).toEqual([]);
});

test("where no model call follows, nothing joins: it would not be answered", async () => {
  const { asked, hook } = joining(user("Tea."));
  const turn = createTurn([{ calls: [call("r", "Read")] }], {
    limits: { iterations: 1 },
    hooks: { joining: async (history) => (history.length > 1 ? hook(history) : []) },
  });
  await runToEnd(turn);
  expect(turn.outcome).toEqual({ reason: "iterations", limit: 1 });
  expect(asked).toEqual([]);
});

test("an interrupt between two that join keeps the second out", async () => {
  const { hook } = joining(user("Tea."), user("Milk."));
  const turn = createTurn([{ text: "Done." }], { hooks: { joining: hook } });
  const steps = await run(turn, { interruptBefore: 1 });
  expect(steps.map(({ type }) => type)).toEqual(["joined", "interrupted"]);
  expect(turn.requests).toEqual([]);
});

test("a turn stands still for an answer, from disk as from memory, and goes on with it", async () => {
  const answers = new Map<string, CallAnswer>();
  const turn = createTurn([{ calls: [call("w", "Write"), call("r", "Read")] }, { text: "Done." }]);
  turn.ports.permit = ({ name }) => (name === "Write" ? "ask" : "allow");
  turn.ports.answers = (id) => answers.get(id);
  await run(turn);
  expect(turn.outcome).toEqual({ reason: "requires_action" });
  expect(turn.log).not.toContain("plan w");
  expect(turn.state.pending.map(({ permission }) => permission)).toEqual(["ask", "allow"]);
  // Asked again without an answer, it does nothing.
  turn.outcome = undefined;
  expect(await run(turn)).toEqual([]);
  answers.set("w", { type: "allow" });
  turn.outcome = undefined;
  await run(turn);
  expect(turn.effects).toEqual(["w"]);
  expect(turn.log.filter((line) => line === "read r")).toHaveLength(1);
  expect(turn.outcome).toEqual({ reason: "end_turn" });
  expect(next(turn)).toEqual([]);
});

test("input that is no JSON is asked about by nobody", async () => {
  const turn = createTurn([
    { calls: [{ id: "w", name: "Write", malformed: "cut" }] },
    { text: "Done." },
  ]);
  turn.ports.permit = () => "ask";
  const steps = await run(turn);
  const answered = steps.find((step) => step.type === "answered");
  expect(answered?.type === "answered" && answered.calls[0]?.permission).toBe("deny");
  expect(turn.outcome).toEqual({ reason: "end_turn" });
});
