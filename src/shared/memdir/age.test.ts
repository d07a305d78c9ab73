import { describe, expect, it } from "vitest";
import { ageInWords, ageOf, freshnessNote } from "./age.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = Date.UTC(2026, 6, 30);

describe("the age of a memory", () => {
  it.each([
    [NOW + HOUR, "today"],
    [NOW, "today"],
    [NOW - DAY + 60_000, "today"],
    [NOW - DAY, "yesterday"],
    [NOW - 2 * DAY, "2 days ago"],
    [NOW - 47 * DAY, "47 days ago"],
    [0, "unknown age"],
    [-1, "unknown age"],
    [Number.NaN, "unknown age"],
    [Number.POSITIVE_INFINITY, "unknown age"],
    [undefined, "unknown age"],
  ])("TRUST-03: changed at %s is %s", (modified, words) => {
    expect(ageInWords(ageOf(modified, NOW))).toBe(words);
  });

  it("TRUST-03: is never negative, however it was computed", () => {
    expect(ageOf(NOW + 400 * DAY, NOW)).toBe(0);
    expect([-1, -DAY, -400 * DAY].map(ageInWords)).toEqual(["today", "today", "today"]);
    expect([Number.NaN, undefined, Infinity].map(ageInWords)).toEqual(Array(3).fill("unknown age"));
  });

  it("is noted from two days on, and only then", () => {
    expect([-DAY, 0, DAY, 2 * DAY - 1, Number.NaN, undefined].map(freshnessNote)).toEqual(
      Array(6).fill(undefined),
    );
    expect(freshnessNote(2 * DAY)).toMatch(/2 days ago.*out of date/);
    expect(freshnessNote(47 * DAY)).toMatch(/47 days ago/);
  });
});
