import { describe, expect, it, test } from "vitest";
import { RECALL_FILES } from "../limits/recall.ts";
import { selectByWords } from "./by-words.ts";
import { candidate, NOW } from "./recall-fixture.ts";

describe("words choose", () => {
  const memories = [
    candidate("coffee.md", { description: "Takes oat milk in coffee" }),
    candidate("deploy-rule.md", { description: "Never on Fridays" }),
    candidate("notes/release.md", {
      name: "Release days",
      description: "Mondays, after the tests",
    }),
    candidate("部署.md", { description: "生产环境的发布" }),
  ];

  test.each([
    ["do we deploy on Friday?", ["deploy-rule.md"]],
    ["which milk for my coffees", ["coffee.md"]],
    ["生产环境在哪里", ["部署.md"]],
    ["deployRule and releases", ["deploy-rule.md", "notes/release.md"]],
    ["what is the time in Tokyo", []],
    ["md", []],
    ["", []],
  ])("%j finds %j", (message, found) => {
    expect(selectByWords(message, memories, RECALL_FILES)).toEqual(found);
  });

  it("the rarer word weighs more, then the newer file comes first, then the path decides", () => {
    const many = [
      candidate("c.md", { description: "test server", updatedAt: Number.NaN }),
      candidate("b.md", { description: "test server", updatedAt: NOW }),
      candidate("d.md", { description: "test server", updatedAt: NOW }),
      candidate("a.md", { description: "rollback", updatedAt: 1 }),
    ];
    const message = "rollback of the server";
    expect(selectByWords(message, many, 9)).toEqual(["a.md", "b.md", "d.md", "c.md"]);
    expect(selectByWords(message, many.toReversed(), 2)).toEqual(["a.md", "b.md"]);
  });

  it("choose nothing where one word in common is chance: the rest is about something else", () => {
    expect(selectByWords("milk", memories)).toEqual(["coffee.md"]);
    const recipe = "how long does milk stay fresh in the refrigerator of a camping trailer?";
    expect(selectByWords(recipe, memories)).toEqual([]);
    expect(selectByWords("苹果公司今年秋天发布了哪些新产品", memories)).toEqual([]);
    expect(selectByWords("what is 17 times 23", [candidate("a.md", { name: "23 of 17" })])).toEqual(
      [],
    );
  });

  it("leave out what matches much less than the best, unless it is the message's other subject", () => {
    const own = [
      candidate("hamburg.md", { description: "The warehouse in Hamburg closes at two" }),
      candidate("leipzig.md", { description: "The warehouse in Leipzig never closes" }),
      candidate("oncall.md", { description: "Priya is on call" }),
    ];
    const chosen = (message: string) => selectByWords(message, own);
    expect(chosen("When does the warehouse in Hamburg close?")[0]).toBe("hamburg.md");
    expect(chosen("Is the Hamburg warehouse open, and where is Priya?")).toContain("oncall.md");
    expect(chosen("Hamburg")).toEqual(["hamburg.md"]);
  });

  it("find a question at the beginning of a long message", () => {
    const log = "connection reset while reading response header from upstream ".repeat(200);
    expect(selectByWords(`Which milk for the coffee? ${log}`, memories)).toEqual(["coffee.md"]);
  });

  it("look for the first 150 words alone", () => {
    const others = Array.from({ length: 150 }, (_, at) => `other${at}`).join(" ");
    expect(selectByWords(`oat milk for coffee: ${others}`, memories)).toEqual(["coffee.md"]);
    expect(selectByWords(`${others} oat milk for coffee`, memories)).toEqual([]);
  });
});
