import { expect, test } from "vitest";
import { sameness } from "./same-word.ts";

test.each([
  ["release", "releases"],
  ["box", "boxes"],
  ["cache", "caches"],
  ["class", "classes"],
  ["story", "stories"],
  ["movie", "movies"],
  ["file", "files"],
  ["deploy", "deployment"],
  ["deploying", "deployed"],
  ["calculate", "calculation"],
  ["allergies", "allergic"],
  ["berechnet", "berechnung"],
  ["auswerten", "auswertung"],
  ["kunde", "kunden"],
])("%s and %s are forms of one word, in either order", (one, other) => {
  expect(sameness(one, other, false)).toBeGreaterThan(0.5);
  expect(sameness(other, one, false)).toBe(sameness(one, other, false));
  expect(sameness(one, other, false)).toBeLessThan(sameness(one, one, false));
});

test.each([
  ["status", "state"],
  ["form", "format"],
  ["gas", "game"],
  ["test", "text"],
  ["api", "app"],
])("%s and %s are two", (one, other) => {
  expect(sameness(one, other, true)).toBe(0);
});

test("the parts of a compound are found in it where words are compounded", () => {
  expect(sameness("termin", "zahnarzttermin", true)).toBeGreaterThan(0);
  expect(sameness("zahnarzttermin", "zahnarzt", true)).toBeGreaterThan(0);
  expect(sameness("rings", "refactorings", false)).toBe(0);
  expect(sameness("maut", "mautart", true)).toBe(0);
});
