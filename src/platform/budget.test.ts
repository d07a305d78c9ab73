import { expect, test } from "vitest";
import { nextUtcDay, overBudget, utcDay } from "./budget.ts";

test("a day is that of UTC, to its last millisecond, and ends where the next one begins", () => {
  const midnight = Date.UTC(2028, 1, 29);
  expect(utcDay(midnight - 1)).toBe("2028-02-28");
  expect(utcDay(midnight)).toBe("2028-02-29");
  expect(nextUtcDay(midnight - 1)).toBe(midnight);
  expect(nextUtcDay(midnight)).toBe(Date.UTC(2028, 2, 1));
});

test("a budget is over when it is used up, and never where there is none", () => {
  expect([0, 99, 100, 101].map((used) => overBudget(used, 100))).toEqual([
    false,
    false,
    true,
    true,
  ]);
  expect(overBudget(Number.MAX_SAFE_INTEGER, undefined)).toBe(false);
});
