import { describe, expect, test } from "vitest";
import { contextLimits } from "./context-limits.ts";
import { messageTokens, NO_SIZE, promptTokens, sizeAfterAnswer } from "./size.ts";

const text = (words: string) => ({
  role: "user" as const,
  content: [{ type: "text" as const, text: words }],
});
const W = 200_000;
const usage = (input: number, output = 0) => ({ input, cacheRead: 0, cacheCreation: 0, output });

describe("the size of a conversation", () => {
  test("by bytes, so that Chinese is not taken for a quarter of what it is", () => {
    expect(messageTokens([text("a".repeat(3000))])).toBe(1010);
    expect(messageTokens([text("会".repeat(1000))])).toBe(1010);
  });

  test("what was counted stands, only what came since is estimated", () => {
    expect(promptTokens({ counted: 50_000, ratio: 0.8 }, 1000)).toBe(50_800);
    expect(promptTokens(NO_SIZE, 1000)).toBe(1000);
  });

  test("each answer tells how far the bytes are off", () => {
    let size = sizeAfterAnswer(NO_SIZE, 10_000, W, usage(8000, 500)) ?? NO_SIZE;
    expect(size.counted).toBe(8500);
    expect(size.ratio).toBeCloseTo(0.94);
    for (let n = 0; n < 20; n += 1) {
      const grown = (size.counted ?? 0) + 800;
      size = sizeAfterAnswer(size, 1000, W, usage(grown)) ?? size;
    }
    expect(size.ratio).toBeCloseTo(0.8, 2);
  });

  test("what is read from the cache counts too, and a short tail says nothing of the ratio", () => {
    const counted = { input: 10, cacheRead: 9000, cacheCreation: 990, output: 5 };
    expect(sizeAfterAnswer({ counted: 9000, ratio: 0.7 }, 20, W, counted)).toEqual({
      counted: 10_005,
      ratio: 0.7,
    });
  });

  test("a server that counts nothing, or wildly, does not spoil the estimate", () => {
    expect(sizeAfterAnswer({ counted: 400, ratio: 1 }, 500, W, usage(0, 7))).toBeUndefined();
    expect(sizeAfterAnswer(NO_SIZE, 1000, W, usage(1_000_000_000))).toBeUndefined();
    expect(sizeAfterAnswer(NO_SIZE, 1000, W, usage(190_000))?.ratio).toBeLessThanOrEqual(2);
    expect(sizeAfterAnswer({ counted: 9000, ratio: 1 }, 1000, W, usage(5))?.ratio).toBeGreaterThan(
      0.2,
    );
  });
});

test.each([
  [1_000_000, 32_000, 968_000, 955_000],
  [200_000, 32_000, 168_000, 155_000],
  [20_000, 4000, 16_000, 14_400],
  [8000, 1600, 6400, 5760],
])(
  "a window of %d leaves %d for the answer, %d for the rest, and compacts at %d",
  (window, answer, room, compactAt) => {
    const limits = contextLimits(window);
    expect(limits).toMatchObject({ window, answer, room, compactAt });
    expect(limits.shrinkAt).toBeLessThan(compactAt);
    expect(limits.keep + limits.files + limits.answer).toBeLessThan(compactAt);
    expect(limits.resultBytes / 3).toBeLessThanOrEqual(room / 5 + 1);
    expect(limits.file * 2).toBeLessThanOrEqual(limits.files + 1);
  },
);
