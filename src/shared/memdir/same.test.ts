import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { comparable, isSameText, sameIn, sameKeys } from "./same.ts";

const memory = (description: string, body = "") => ({ description, body });

describe("TRUTH-07: two memories are the same", () => {
  it.each([
    ["Ann likes tea.", "ann  likes\nTea"],
    ["Use tabs, not spaces", "use tabs not spaces."],
    ["Le cafe\u0301", "le caf\u00e9"],
    ["用茶，不用咖啡。", "用茶，不用咖啡"],
    ["Prefers C#.", "prefers C#"],
    ["Version 2.1.", "version 2.1"],
  ])("where a reader would say so: %j and %j", (one, other) => {
    expect(sameIn(memory(one), memory(other))).toBe("description");
    expect(sameKeys(memory(one)).about).toBe(sameKeys(memory(other)).about);
  });

  it.each([
    ["Prefers C", "Prefers C#"],
    ["Prefers C", "Prefers C++"],
    ["Use R for plots", "Use r for plots"],
    ["Node 2.1", "Node 2-1"],
    ["Node 2.1", "Node 21"],
    ["The port is 80", "The port is 8080"],
    ["Offset is -5", "Offset is 5"],
    ["x > y", "x < y"],
    ["m²", "m2"],
    ["Mock the database", "Never mock the database"],
    ["Ann likes tea", "Ann doesn't like tea"],
    ["Ann trusts Ben", "Ben trusts Ann"],
    ["ssh -p 22", "ssh -P 22"],
    ["Is Ann on leave?", "Is Ann on leave"],
    ["src/a.ts", "src/A.ts"],
    ["不要咖啡", "要咖啡"],
    ["", ""],
  ])("and not where it would not: %j and %j", (one, other) => {
    expect(sameIn(memory(one), memory(other))).toBeUndefined();
    expect(sameIn(memory("a", `${one}, we said so in spring`), memory("b", other))).toBeUndefined();
    if (one === "") return;
    const long = (text: string) => `${text}. That is how we do it here.`;
    expect(isSameText(long(one), long(other))).toBe(false);
  });

  it("by their text too, if it says enough to stand for itself and is no essay", () => {
    const text = "The release is always on Friday.\n";
    expect(sameIn(memory("a", text), memory("b", "The release is  always on friday"))).toBe("text");
    expect(sameIn(memory("a", "On Friday."), memory("b", "On Friday."))).toBeUndefined();
    const essay = "It is so. ".repeat(2000);
    expect(sameKeys(memory("a", essay)).said).toBeNull();
    expect(isSameText(essay, essay)).toBe(false);
  });

  it("share their keys wherever they are the same, so that a lookup finds them", () => {
    const word = fc.constantFrom("C", "C#", "2.1", "2-1", "never", "Tea", "tea", "tea.", "-", " ");
    const text = fc.array(word, { maxLength: 12 }).map((words) => words.join(" "));
    const any = fc.record({ description: text, body: text });
    fc.assert(
      fc.property(any, any, (one, other) => {
        const same = sameIn(one, other);
        const keys = [sameKeys(one), sameKeys(other)] as const;
        expect(same === "description").toBe(
          keys[0].about !== null && keys[0].about === keys[1].about,
        );
        if (same === "text") expect(keys[0].said).toBe(keys[1].said);
        expect(comparable(comparable(one.body))).toBe(comparable(one.body));
      }),
      { numRuns: 500 },
    );
  });
});
