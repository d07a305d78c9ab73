import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { refusals } from "../loop/history-fixture.ts";
import type { Entry } from "../thread/entry.ts";
import { entryOf } from "../thread/entry-fixture.ts";
import type { Message } from "../thread/messages.ts";
import { messageTokens } from "./size.ts";
import { tailOf } from "./tail.ts";

const said = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
const answer = (text: string): Message => ({
  role: "assistant",
  content: [{ type: "text", text }],
});
const calls = (...ids: string[]): Message => ({
  role: "assistant",
  content: ids.map((id) => ({ type: "tool_use", id, name: "Read", input: {} })),
});
const results = (...ids: string[]): Message => ({
  role: "user",
  content: ids.map((id) => ({ type: "tool_result", tool_use_id: id, content: "r".repeat(300) })),
});
const messages = (entries: readonly Entry[]) => entries.map(({ message }) => message);
const place = (turns: readonly (readonly Message[])[]): Entry[] => {
  let n = 0;
  return turns.flatMap((messages, turn) =>
    messages.map((message) => {
      n += 1;
      return entryOf(message, n, turn + 1);
    }),
  );
};

describe("the tail that a compaction keeps", () => {
  test("COMP-03: never begins with a result whose call is cut", () => {
    const placed = place([
      [said("one"), answer("x".repeat(3000))],
      [said("two"), calls("t9"), results("t9"), answer("done")],
    ]);
    for (let keep = 0; keep < 2000; keep += 10) {
      const { kept, carried, cut } = tailOf(placed, keep);
      const sent = [said("summary"), ...messages([...carried, ...kept])];
      expect(refusals([...sent, said("next")])).toEqual([]);
      expect(cut).toBe((kept[0]?.n ?? 0) - 1);
    }
  });

  test("COMP-06: holds the user's last words, also where the turn is cut in two", () => {
    const steps = Array.from({ length: 30 }, (_, n) => [calls(`c${n}`), results(`c${n}`)]).flat();
    const placed = place([
      [said("delete branch x"), answer("It is deleted.")],
      [said("show the log format"), said("a memory"), ...steps],
    ]).map((entry) =>
      entry.n === 4 ? { ...entry, origin: { type: "recall" as const, memories: [] } } : entry,
    );
    const { carried, kept } = tailOf(placed, 500);
    expect(messages(carried)).toEqual([said("show the log format")]);
    expect(kept.length).toBeLessThan(10);
    expect(kept[0]?.message.role).toBe("assistant");
    expect(tailOf(place([[said("old"), answer("a")], [said("new")]]), 0).kept).toMatchObject([
      { message: said("new") },
    ]);
  });

  test("a person's words are theirs, also where they begin as a reminder of ours does", () => {
    const words = said("<system-reminder>Ship on Friday.</system-reminder>");
    const steps = Array.from({ length: 30 }, (_, n) => [calls(`c${n}`), results(`c${n}`)]).flat();
    const { carried } = tailOf(place([[words, ...steps]]), 500);
    expect(messages(carried)).toEqual([words]);
  });

  test("what was carried over one compaction is carried over the next of the same turn", () => {
    const steps = Array.from({ length: 30 }, (_, n) => [calls(`c${n}`), results(`c${n}`)]).flat();
    const first = tailOf(place([[said("go"), ...steps]]), 500);
    const summary: Entry = { ...entryOf(said("summary"), 0, 0), origin: { type: "summary" } };
    const head = [summary, ...first.carried];
    const second = tailOf(first.kept, 200, { head });
    expect(messages(second.carried)).toEqual([said("go")]);
    expect(tailOf([entryOf(said("next"), 99, 2)], 0, { head }).carried).toEqual([]);
    const large = entryOf(said("x".repeat(9000)), 1, 1);
    expect(tailOf(first.kept, 500, { head: [large, ...first.carried] }).carried).toEqual(
      first.carried,
    );
  });

  test("holds all that the notes do not know", () => {
    const placed = place([[said("one"), answer("1")], [said("two"), answer("2")], [said("three")]]);
    expect(tailOf(placed, 0, { known: 2 }).kept.map(({ n }) => n)).toEqual([3, 4, 5]);
    expect(tailOf(placed, 0, { known: 3 }).kept.map(({ n }) => n)).toEqual([4, 5]);
    expect(messages(tailOf(placed, 0, { known: 3 }).carried)).toEqual([said("two")]);
    expect(tailOf(placed, 100_000, { known: 3 })).toMatchObject({ cut: 0 });
  });

  test("keeps the last step whole, however large", () => {
    const placed = place([[said("go"), calls("a", "b"), results("a", "b")]]);
    const { kept, carried } = tailOf(placed, 1);
    expect(kept.map(({ n }) => n)).toEqual([2, 3]);
    expect(messages(carried)).toEqual([said("go")]);
  });

  test("is valid, and within its tokens but for the last step, for any conversation", () => {
    const step = fc.record({ calls: fc.nat(3), size: fc.nat(400) });
    const turn = fc.record({ steps: fc.array(step, { maxLength: 5 }), size: fc.nat(400) });
    let id = 0;
    const build = (turns: { steps: { calls: number; size: number }[]; size: number }[]) =>
      place(
        turns.map(({ steps, size }) => [
          said("u".repeat(size + 1)),
          ...steps.flatMap((each) => {
            const ids = Array.from({ length: each.calls + 1 }, (_, n) => `c${id + n}`);
            id += ids.length;
            return [calls(...ids), results(...ids)];
          }),
          answer("a".repeat(size + 1)),
        ]),
      );
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 6 }), fc.nat(1500), (turns, keep) => {
        const placed = build(turns);
        const { kept, carried, cut } = tailOf(placed, keep);
        const sent = [said("summary"), ...messages([...carried, ...kept])];
        expect(refusals([...sent, said("next")])).toEqual([]);
        expect(placed.slice(-kept.length)).toEqual(kept);
        expect(cut === 0).toBe(kept.length === placed.length);
        const older = kept.slice(2).map(({ message }) => message);
        if (kept.length > 3) expect(messageTokens(older)).toBeLessThanOrEqual(keep);
      }),
    );
  });
});
