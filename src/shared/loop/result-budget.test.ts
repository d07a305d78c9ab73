import { expect, test } from "vitest";
import { createResultBudget } from "./result-budget.ts";
import type { ToolResult } from "./tool.ts";
import { ok } from "./tools-fixture.ts";

const LIMITS = { one: 1000, all: 5000, least: 300 };
const jsonSize = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length;
const block = ({ content }: ToolResult) => ({
  type: "tool_result",
  tool_use_id: "x".repeat(64),
  content,
  is_error: true,
});

test("a result within its limits is the same object", () => {
  const result = ok("x".repeat(1000));
  expect(createResultBudget(1, LIMITS).fit(result)).toBe(result);
});

test("one result over its limit is cut between characters, says how much is gone, and is no longer seen", () => {
  const seen = { type: "seen", path: "/a", etag: "e" } as const;
  const changed = { type: "changed", path: "/a", operation: "modified", etag: "e" } as const;
  const content = "🙂".repeat(300);
  const fitted = createResultBudget(1, LIMITS).fit({ ...ok(content), notes: [seen, changed] });
  const [begun = "", mark = ""] = fitted.content.split("\n");
  expect(begun).toMatch(/^(🙂)+$/u);
  expect(mark).toContain(`[${1200 - begun.length * 2} bytes were left out here`);
  expect(mark).toContain("offset and limit");
  expect(new TextEncoder().encode(fitted.content).length).toBeLessThanOrEqual(1000);
  expect(fitted.notes).toEqual([changed]);
});

test.each(["x", "\u0001", '"', "会", "🙂"])(
  "many results of %j stay within all bytes together, and the last still says something",
  (unit) => {
    const budget = createResultBudget(12, LIMITS);
    const results = Array.from({ length: 12 }, () => budget.fit(ok(unit.repeat(900))));
    expect(jsonSize(results.map(block))).toBeLessThanOrEqual(5000);
    expect(results.every(({ content }) => content.includes(unit))).toBe(true);
    expect(results.at(-1)?.content).toContain("left out");
  },
);

test("more calls than there is room for get the least each", () => {
  const budget = createResultBudget(50, LIMITS);
  const results = Array.from({ length: 50 }, () => budget.fit(ok("x".repeat(900))));
  expect(jsonSize(results.map(block))).toBeLessThanOrEqual(50 * 300);
  expect(results.every(({ content }) => content.startsWith("x"))).toBe(true);
});

test("what is on disk counts and is not cut again; short results keep their room", () => {
  const budget = createResultBudget(3, LIMITS);
  budget.count(ok("x".repeat(4000)));
  expect(budget.fit(ok("y".repeat(900))).content).toContain("left out");
  expect(budget.fit(ok("wrote it")).content).toBe("wrote it");
});
