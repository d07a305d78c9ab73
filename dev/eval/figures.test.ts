import { describe, expect, it } from "vitest";
import { choiceFigures, choiceRows } from "./choice-figures.ts";
import { everyMessage, fileOf, perfectDrafts } from "./drafts.ts";
import { type Question, readQuestions, readTalks, type Talk } from "./set.ts";
import { addFigures, datesOf, talkFigures } from "./talk-figures.ts";

const question = (...want: string[]): Question => ({
  question: "?",
  want,
  kind: "direct",
  language: "en",
});

describe("the figures of a choice", () => {
  it("count a question's share of what should be offered, and all that was offered", () => {
    const figures = choiceFigures([
      { question: question("a", "b"), chosen: ["a", "x"] },
      { question: question("c"), chosen: ["c"] },
      { question: question(), chosen: [] },
      { question: question(), chosen: ["x"] },
    ]);
    expect(figures).toEqual({ questions: 4, recall: 0.75, precision: 0.5, nothing: 0.5 });
  });

  it("say nothing where there is nothing to divide by", () => {
    expect(choiceFigures([])).toEqual({
      ...{ questions: 0, recall: undefined, precision: undefined, nothing: undefined },
    });
    expect(choiceFigures([{ question: question("a"), chosen: [] }])).toMatchObject({
      ...{ recall: 0, precision: undefined, nothing: undefined },
    });
  });

  it("are all 1 for who is right, and clearly less for who always, never or blindly chooses", () => {
    const questions = readQuestions();
    const of = (choose: (one: Question) => readonly string[]) =>
      choiceFigures(questions.map((one) => ({ question: one, chosen: choose(one) })));
    expect(of(({ want }) => want)).toMatchObject({ recall: 1, precision: 1, nothing: 1 });
    const blind = of(() => ["role.md", "coffee.md", "oncall.md", "kestrel.md", "敬語.md"]);
    expect(blind.recall).toBeLessThan(0.1);
    expect(blind.precision).toBeLessThan(0.1);
    expect(blind.nothing).toBe(0);
    expect(of(() => [])).toMatchObject({ recall: 0, precision: undefined, nothing: 1 });
  });

  it("keep what lies beside the main set out of its row", () => {
    const rows = new Map(
      choiceRows([
        { question: question("a"), chosen: ["a"] },
        { question: { ...question("a"), kind: "unlike" }, chosen: [] },
      ]),
    );
    expect(rows.get("main set")).toMatchObject({ questions: 1, recall: 1 });
    expect(rows.get("  beside: unlike")).toMatchObject({ questions: 1, recall: 0 });
    expect(rows.get("with what is beside")).toMatchObject({ questions: 2, recall: 0.5 });
  });
});

describe("the figures of a talk", () => {
  const day = Date.UTC(2026, 11, 1, 12);
  const talk: Talk = {
    id: "t",
    language: "en",
    messages: ["We close tomorrow; the key is s3cret"],
    before: [{ path: "old.md", type: "project", name: "old", description: "We are open" }],
    save: [{ type: "project|reference", facts: ["close|shut"], date: { days: 1 } }],
    not: ["s3cret", "tomorrow", "we are open"],
  };
  const saved = (description: string, type: "project" | "user" = "project", path = "a.md") => ({
    path,
    content: fileOf({ name: "a", description, type }),
  });
  const of = (...memories: ReturnType<typeof saved>[]) => talkFigures(talk, memories, day);
  const right = { talks: 1, expected: 1, saved: 1, missed: 0, wrongType: 0, wronglySaved: 0 };

  it("count what is right, in any case of letters and with any of the alternatives", () => {
    const good = { ...right, forbidden: 0, relativeDates: 0 };
    expect(of(saved("Will SHUT on 2026-12-02"))).toEqual(good);
    expect(of(saved("Will close on December 2"))).toEqual(good);
  });

  it("count what is missed, of another type, and not asked for", () => {
    expect(of()).toMatchObject({ saved: 0, missed: 1, wronglySaved: 0 });
    expect(of(saved("close 2026-12-02", "user"))).toMatchObject({ saved: 1, wrongType: 1 });
    expect(of(saved("close 2026-12-02"), saved("Likes tea", "user", "b.md"))).toMatchObject({
      ...{ saved: 1, wronglySaved: 1 },
    });
  });

  it("count a day that is still said as it was said", () => {
    expect(of(saved("close tomorrow"))).toMatchObject({ relativeDates: 1, forbidden: 1 });
    expect(of(saved("close on 2026-12-03"))).toMatchObject({ relativeDates: 1 });
    // Another number goes on with the digits of the day.
    expect(of(saved("close on December 21"))).toMatchObject({ relativeDates: 1 });
  });

  it("count what must not stand, also in a memory that was there before", () => {
    const old = saved("We are open", "project", "old.md");
    expect(of(saved("close 2026-12-02, s3cret"), old)).toMatchObject({
      ...{ forbidden: 2, wronglySaved: 0 },
    });
  });

  it("name a day in the ways of the set's languages", () => {
    expect(datesOf(day)).toEqual(
      expect.arrayContaining(["2026-12-01", "12月1日", "1. Dezember", "December 1"]),
    );
  });

  it("are faultless for who saves by the labels, and bad for who saves every message or none", () => {
    const talks = readTalks();
    const now = Date.now();
    const asSaved = (drafts: ReturnType<typeof everyMessage>) =>
      drafts.map(({ path, type, text }) => ({
        path,
        content: fileOf({ name: path, description: text, type }),
      }));
    const held = (drafts: typeof everyMessage) =>
      addFigures(talks.map((one) => talkFigures(one, asSaved(drafts(one)), now)));
    const perfect = held(perfectDrafts);
    expect(perfect).toEqual({
      ...{ talks: 60, expected: perfect.expected, saved: perfect.expected, missed: 0 },
      ...{ wrongType: 0, wronglySaved: 0, forbidden: 0, relativeDates: 0 },
    });
    const all = held(everyMessage);
    expect(all.wronglySaved).toBeGreaterThan(20);
    expect(all.wrongType).toBeGreaterThan(10);
    expect(all.forbidden).toBeGreaterThan(10);
    expect(all.relativeDates).toBeGreaterThan(5);
    expect(held(() => []).missed).toBe(perfect.expected);
  });
});
