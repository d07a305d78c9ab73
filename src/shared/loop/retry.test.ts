import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { failure } from "./loop-fixture.ts";
import type { FailureKind } from "./model.ts";
import { decideRetry } from "./retry.ts";

const LIMITS = {
  attempts: 5,
  firstMs: 500,
  mostMs: 16_000,
  inMemoryMs: 5_000,
  retryAfterMostMs: 60_000,
};
const MANY = { ...LIMITS, attempts: 100, inMemoryMs: 20_000 };
const none = () => 0;

describe("our own pause", () => {
  test("doubles up to its most", () => {
    const pauses = [0, 1, 2, 3, 4, 5, 6, 60].map((n) => decideRetry(failure("cut"), n, MANY, none));
    expect(pauses.map((next) => ("ms" in next ? next.ms : next.action))).toEqual([
      500, 1000, 2000, 4000, 8000, 16_000, 16_000, 16_000,
    ]);
  });

  test("is shortened by up to a quarter, never more, never lengthened", () => {
    const random = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(fc.nat(60), random, (attempt, luck) => {
        const next = decideRetry(failure("overloaded"), attempt, MANY, () => luck);
        if (next.action !== "retry") throw new Error(next.action);
        const whole = Math.min(500 * 2 ** attempt, 16_000);
        expect(next.ms).toBeLessThanOrEqual(whole);
        expect(next.ms).toBeGreaterThanOrEqual(whole * 0.75);
        expect(Number.isInteger(next.ms)).toBe(true);
      }),
    );
  });

  test("differs with luck", () => {
    const ms = (luck: number) => decideRetry(failure("cut"), 0, LIMITS, () => luck);
    expect(ms(1)).toEqual({ action: "retry", ms: 375 });
    expect(ms(0.5)).toEqual({ action: "retry", ms: 438 });
  });
});

describe("the server's hint", () => {
  test.each([
    [3_000, { action: "retry", ms: 3_000 }],
    [5_000, { action: "retry", ms: 5_000 }],
    [5_001, { action: "pause", ms: 5_001 }],
    [60_000, { action: "pause", ms: 60_000 }],
    [60_001, { action: "give_up" }],
    [Number.POSITIVE_INFINITY, { action: "give_up" }],
  ])("of %i ms is obeyed as it says", (hint, expected) => {
    expect(decideRetry(failure("rate_limited", hint), 0, LIMITS, () => 1)).toEqual(expected);
  });

  test("below our own pause does not shorten it", () => {
    expect(decideRetry(failure("rate_limited", 0), 2, LIMITS, none)).toEqual({
      action: "retry",
      ms: 2000,
    });
  });
});

const PASSING: FailureKind[] = [
  "overloaded",
  "rate_limited",
  "server_error",
  "unreachable",
  "cut",
  "stalled",
];
const LASTING: FailureKind[] = ["denied", "rejected", "too_long", "too_large", "aborted"];

test.each(PASSING)("%s is tried again until the attempts are used up", (kind) => {
  const actions = [0, 1, 2, 3, 4, 5].map((n) => decideRetry(failure(kind), n, LIMITS, none).action);
  expect(actions).toEqual(["retry", "retry", "retry", "retry", "give_up", "give_up"]);
});

test.each(LASTING)("%s is not tried again, whatever the server says", (kind) => {
  expect(decideRetry(failure(kind, 100), 0, LIMITS, none)).toEqual({ action: "give_up" });
});
