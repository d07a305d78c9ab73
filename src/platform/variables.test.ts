import { expect, test } from "vitest";
import { variablesOf } from "./variables.ts";

test("a daily budget is a whole number above 0, or none", () => {
  expect(variablesOf({ DAILY_TOKEN_BUDGET: "200000" }).DAILY_TOKEN_BUDGET).toBe(200_000);
  expect(variablesOf({ DAILY_TOKEN_BUDGET: "" }).DAILY_TOKEN_BUDGET).toBeUndefined();
  expect(variablesOf({}).DAILY_TOKEN_BUDGET).toBeUndefined();
});

test("what is not set has its default", () => {
  expect(variablesOf({})).toMatchObject({
    RECALL_MODEL: "claude-sonnet-5-5",
    RECALL_WAIT_MS: 0,
    LEASE_MS: 120_000,
    EXTRACTION_DRAIN_MS: 60_000,
    NOTES_FIRST_TOKENS: 10_000,
    NOTES_GROWTH_TOKENS: 5_000,
    NOTES_WAIT_MS: 15_000,
    PERMISSION_MODE: "accept_edits",
  });
});

test.each([
  ...["0", "-5", "1.5", "plenty"].map((value) => ["DAILY_TOKEN_BUDGET", value]),
  ["MODEL", " "],
  ["RECALL_MODEL", " "],
  ["FALLBACK_MODEL", "claude opus"],
  ["MODEL_IDLE_MS", "soon"],
  ["CONTEXT_WINDOW_TOKENS", "100"],
  ["RECALL_WAIT_MS", "60001"],
  ["EXTRACTION_DRAIN_MS", "9007199254740991"],
  ["LEASE_MS", "10"],
  ["LEASE_MS", "1e12"],
  ["NOTES_GROWTH_TOKENS", "0"],
  ["NOTES_WAIT_MS", "1e9"],
  ["PERMISSION_MODE", "bypass"],
  ["APPROVAL_TIMEOUT_MS", "0"],
  ["MEMORY_PATH_OVERRIDE", "relative/memory"],
  ["REMOTE_MEMORY_DIR", "/workspace/memory"],
  ...["maybe", "2", " ", "disabled", "t", "null"].flatMap((value) => [
    ["DISABLE_AUTO_MEMORY", value],
    ["SIMPLE", value],
  ]),
  ["PERMISSION_MODE", "READ_ONLY"],
  ["RECALL_FALLBACK", "None"],
])("%s=%s is refused by name", (name, value) => {
  expect(() => variablesOf({ [name]: value })).toThrow(new RegExp(`^${name} is `));
});

test("a place that is refused names the rule and the path", () => {
  expect(() => variablesOf({ MEMORY_PATH_OVERRIDE: "/x" })).toThrow(
    /^MEMORY_PATH_OVERRIDE is not a place for memory \(near_root\): Cannot use path "\/x"/,
  );
});

test("TRUTH-04: a switch takes the documented words, in any case and with blanks around, and no other", () => {
  for (const value of [
    "1",
    "true",
    "TRUE",
    "yes",
    "on",
    " 1 ",
    "0",
    "False",
    "no",
    "off",
    true,
    0,
  ]) {
    expect(variablesOf({ SIMPLE: value }).SIMPLE).toBe(String(value));
  }
  expect(() => variablesOf({ DISABLE_AUTO_MEMORY: "maybe" })).toThrow(
    "DISABLE_AUTO_MEMORY is none of 1, true, yes, on, 0, false, no, off. Correct it and start again",
  );
});
