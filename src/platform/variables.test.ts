import { expect, test } from "vitest";
import { variablesOf } from "./variables.ts";

test("a daily budget is a whole number above 0, or none", () => {
  expect(variablesOf({ DAILY_TOKEN_BUDGET: "200000" }).DAILY_TOKEN_BUDGET).toBe(200_000);
  expect(variablesOf({ DAILY_TOKEN_BUDGET: "" }).DAILY_TOKEN_BUDGET).toBeUndefined();
  expect(variablesOf({}).DAILY_TOKEN_BUDGET).toBeUndefined();
});

test.each(["0", "-5", "1.5", "plenty"])("a daily budget of %s is refused by name", (value) => {
  expect(() => variablesOf({ DAILY_TOKEN_BUDGET: value })).toThrow(/^DAILY_TOKEN_BUDGET is not /);
});
