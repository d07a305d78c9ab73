import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MarkedTurn, TurnMark } from "./batch.ts";
import { markOf, nextBatch } from "./batch.ts";

const turns = (marks: TurnMark[], from = 1, messages = 2): MarkedTurn[] =>
  marks.map((mark, index) => ({ n: from + index, mark, messages }));

describe("markOf", () => {
  it("a final answer is due, one that was cut at the end too", () => {
    expect(markOf({ reason: "end_turn" }, false)).toBe("due");
    expect(markOf({ reason: "stopped" }, false)).toBe("due");
  });

  it("a turn that wrote is written however it ended, and only a turn that wrote", () => {
    expect(markOf({ reason: "interrupted" }, true)).toBe("written");
    expect(markOf(undefined, true)).toBe("written");
    for (const reason of ["interrupted", "refusal", "failed"] as const) {
      expect(markOf({ reason }, false)).toBe("open");
    }
    expect(markOf({ reason: "iterations", limit: 50 }, false)).toBe("open");
    expect(markOf(undefined, false)).toBe("open");
  });

  it("a final answer to one who stated nothing is quiet; what wrote or broke off is not", () => {
    expect(markOf({ reason: "end_turn" }, false, true)).toBe("quiet");
    expect(markOf({ reason: "end_turn" }, true, true)).toBe("written");
    expect(markOf({ reason: "interrupted" }, false, true)).toBe("open");
  });
});

describe("nextBatch", () => {
  it("holds no more tokens than can be shown, but one turn in any case", () => {
    const large = turns(["due", "due", "due", "due"]).map((turn) => ({ ...turn, tokens: 400 }));
    expect(nextBatch(large, { tokens: 1000 }).batch).toEqual({ first: 1, last: 2 });
    expect(nextBatch(large, { tokens: 10 }).batch).toEqual({ first: 1, last: 1 });
    expect(nextBatch(large).batch).toEqual({ first: 1, last: 4 });
  });

  it("takes all due turns behind the cursor at once", () => {
    expect(nextBatch(turns(["due", "due", "due"], 5))).toEqual({
      cursor: undefined,
      batch: { first: 5, last: 7 },
    });
  });

  it("EXT-01: holds to a bound of messages, the oldest first, whole turns, at least one", () => {
    const batch = (marks: TurnMark[], messages: number) =>
      nextBatch(turns(marks, 1, messages), { messages: 10 }).batch;
    expect(batch(["due", "due", "due"], 4)).toEqual({ first: 1, last: 2 });
    expect(batch(["due", "due"], 31)).toEqual({ first: 1, last: 1 });
    expect(batch(["open", "open", "due"], 5)).toEqual({ first: 1, last: 2 });
  });

  it("EXT-04: skipping a turn that wrote skips this turn only", () => {
    expect(nextBatch(turns(["written", "written"], 3))).toEqual({ cursor: 4, batch: undefined });
    expect(nextBatch(turns(["written", "due"], 3))).toEqual({
      cursor: 3,
      batch: { first: 4, last: 4 },
    });
    expect(nextBatch(turns(["due", "written", "due"])).batch).toEqual({ first: 1, last: 1 });
    expect(nextBatch(turns(["open", "written", "due"])).batch).toEqual({ first: 1, last: 1 });
  });

  it("open turns wait for a due one, unless none will come", () => {
    expect(nextBatch(turns(["open", "open"])).batch).toBeUndefined();
    expect(nextBatch(turns(["open", "due", "open"])).batch).toEqual({ first: 1, last: 2 });
    expect(nextBatch(turns(["due", "open"]), { final: true }).batch).toEqual({ first: 1, last: 2 });
    expect(nextBatch([], { final: true })).toEqual({ cursor: undefined, batch: undefined });
  });

  it("quiet turns ask for nothing: they wait for a due one, or for the end", () => {
    expect(nextBatch(turns(["quiet", "quiet"]))).toEqual({ cursor: undefined, batch: undefined });
    expect(nextBatch(turns(["quiet", "quiet", "due"])).batch).toEqual({ first: 1, last: 3 });
    expect(nextBatch(turns(["quiet"]), { final: true }).batch).toEqual({ first: 1, last: 1 });
  });

  it("a turn that wrote takes the quiet ones just before it along, and no other", () => {
    expect(nextBatch(turns(["quiet", "quiet", "written", "quiet"]))).toEqual({
      cursor: 3,
      batch: undefined,
    });
    expect(nextBatch(turns(["written", "quiet", "due"]))).toEqual({
      cursor: 1,
      batch: { first: 2, last: 3 },
    });
    expect(nextBatch(turns(["quiet", "open", "written"])).cursor).toBeUndefined();
    expect(nextBatch(turns(["quiet", "due", "written"])).batch).toEqual({ first: 1, last: 2 });
  });

  it("whatever the turns: batch by batch, each is looked at once and in order", () => {
    const mark = fc.constantFrom<TurnMark>("due", "written", "open", "quiet");
    const one = fc.record({ mark, messages: fc.integer({ min: 0, max: 30 }) });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 30 }), (drawn) => {
        const all = drawn.map((turn, index) => ({ ...turn, n: index + 1 }));
        const looked: number[] = [];
        let cursor = 0;
        for (let rounds = 0; rounds <= all.length; rounds += 1) {
          const left = all.filter(({ n }) => n > cursor);
          const { cursor: skipped, batch } = nextBatch(left, { final: true, messages: 20 });
          if (skipped !== undefined) cursor = skipped;
          if (!batch) break;
          expect(batch.first).toBe(cursor + 1);
          for (let n = batch.first; n <= batch.last; n += 1) looked.push(n);
          cursor = batch.last;
        }
        expect(cursor).toBe(all.length);
        const kept = new Set(looked);
        expect(looked).toEqual([...kept].sort((a, b) => a - b));
        for (const { n, mark } of all) {
          if (mark === "quiet") continue;
          expect(kept.has(n)).toBe(mark !== "written");
        }
      }),
    );
  });
});
