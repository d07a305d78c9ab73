import { describe, expect, it } from "vitest";
import { conversationTokens, type NotesMark, notesDue } from "./due.ts";

const THRESHOLDS = { firstTokens: 10_000, growthTokens: 5_000, toolCalls: 3 };
const due = (mark: Partial<NotesMark>) =>
  notesDue({ baseline: null, toolCalls: 0, tokens: 0, asked: true, ...mark }, THRESHOLDS);

describe("SESS-02: the edges of the thresholds", () => {
  it.each([
    // baseline, tokens, tool calls, the last answer asked for tools, due
    [null, 9_999, 9, false, false],
    [null, 10_000, 0, true, true],
    [null, 10_000, 0, false, true],
    [10_000, 14_999, 3, true, false],
    [10_000, 14_999, 0, false, false],
    [10_000, 14_999, 99, false, false],
    [10_000, 15_000, 2, true, false],
    [10_000, 15_000, 3, true, true],
    [10_000, 15_000, 0, false, true],
    [10_000, 15_000, 2, false, true],
    [0, 4_999, 3, true, false],
    [0, 5_000, 3, true, true],
  ])("baseline %s, %s tokens, %s calls, asked %s: %s", (baseline, tokens, toolCalls, asked, is) => {
    expect(due({ baseline, tokens, toolCalls, asked })).toBe(is);
  });
});

it("SESS-01: growth counts from what a compaction left, not from before it and not cumulatively", () => {
  expect(due({ baseline: 12_000, tokens: 60_000, toolCalls: 3 })).toBe(true);
  const compacted = { baseline: 18_000, toolCalls: 3 };
  expect(due({ ...compacted, tokens: 22_999 })).toBe(false);
  expect(due({ ...compacted, tokens: 23_000 })).toBe(true);
  expect(due({ ...compacted, tokens: 24_000 })).toBe(true);
});

it("the size is all that went in, cached or not, and what came out", () => {
  expect(
    conversationTokens({ input: 1, cacheRead: 10_000, cacheCreation: 200, output: 3_000 }),
  ).toBe(13_201);
});
