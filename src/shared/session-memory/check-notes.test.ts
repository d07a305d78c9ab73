import { expect, test } from "vitest";
import { checkChange, checkNotes } from "./check-notes.ts";
import { NOTES_TEMPLATE } from "./template.ts";

const filled = NOTES_TEMPLATE.replace("# Task\n", "# Task\nBuild a boat.\n");

test("the template and what is noted in it are notes, with or without the hints", () => {
  expect(checkNotes(NOTES_TEMPLATE)).toBeUndefined();
  expect(checkNotes(filled)).toBeUndefined();
  expect(checkNotes(filled.replaceAll(/^_.*_$/gm, "x"))).toBeUndefined();
});

test.each([
  ["nothing at all", "", /"# Title", .*"# Work log" are missing/],
  ["one heading lost", filled.replace("# Lessons\n", ""), /the heading "# Lessons" is missing/],
  ["a heading renamed", filled.replace("# Task", "## Task"), /"# Task" is missing/],
  ["a heading doubled", `${filled}# Task\nx\n`, /"# Task" stands there twice/],
  [
    "two headings exchanged",
    filled.replace("# Task", "# X").replace("# Lessons", "# Task").replace("# X", "# Lessons"),
    /"# Task" is not in its place/,
  ],
  ["text above the title", `Hello\n\n${filled}`, /above "# Title"/],
])("refused with the reason: %s", (_what, text, reason) => {
  expect(checkNotes(text)).toMatch(reason);
});

test("a change that leaves nothing of what was noted is refused, one of empty notes is not", () => {
  expect(checkChange(filled, NOTES_TEMPLATE)).toMatch(/nothing of what was noted/);
  expect(checkChange(filled, filled.replace("Build a boat.", "Built."))).toBeUndefined();
  expect(checkChange(NOTES_TEMPLATE, NOTES_TEMPLATE)).toBeUndefined();
});
