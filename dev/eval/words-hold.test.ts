// What the choice by words must keep to on the labelled set. It is measured anew with `npm run eval`.

import { expect, test } from "vitest";
import { BESIDE, type Chosen, choiceFigures } from "./choice-figures.ts";
import { chooseByWords } from "./choose-by-words.ts";
import { readHeldOut, readMemories, readQuestions, readTalks } from "./set.ts";

const memories = readMemories();
const questions = readQuestions();
const all = chooseByWords(questions, memories);
const main = all.filter(({ question }) => !BESIDE.has(question.kind));
const recallOf = (of: readonly Chosen[]) => choiceFigures(of).recall ?? 0;

test("the set is as large as its README says, and its labels name memories", () => {
  const paths = new Set(memories.map(({ path }) => path));
  const asked = [...questions, ...readHeldOut()];
  expect(paths.size).toBeGreaterThanOrEqual(80);
  expect(main.filter(({ question }) => question.want.length > 0).length).toBeGreaterThan(160);
  expect(main.filter(({ question }) => question.want.length === 0).length).toBeGreaterThan(60);
  expect(readTalks()).toHaveLength(60);
  expect(asked.flatMap(({ want }) => want).filter((path) => !paths.has(path))).toEqual([]);
  expect(new Set(asked.map(({ question }) => question)).size).toBe(asked.length);
});

test("words find what they can find: recall@5 of .92, and nothing for nothing of .90", () => {
  const figures = choiceFigures(main);
  expect(figures.recall).toBeGreaterThanOrEqual(0.92);
  expect(figures.nothing).toBeGreaterThanOrEqual(0.9);
  // They offered two of five in vain before there was a floor.
  expect(figures.precision).toBeGreaterThanOrEqual(0.75);
});

test.each(["zh", "ja"])("%s is found as well as the rest, within five points", (language) => {
  const own = main.filter(({ question }) => question.language === language);
  expect(recallOf(own)).toBeGreaterThanOrEqual(recallOf(main) - 0.05);
});

test("what was held out is found as well", () => {
  const figures = choiceFigures(chooseByWords(readHeldOut(), memories));
  expect(figures.recall).toBeGreaterThanOrEqual(0.92);
  expect(figures.nothing).toBeGreaterThanOrEqual(0.85);
});

test("the order of the memories is nothing to the choice", () => {
  const turned = chooseByWords(questions, memories.toReversed());
  expect(turned.map(({ chosen }) => chosen)).toEqual(all.map(({ chosen }) => chosen));
});
