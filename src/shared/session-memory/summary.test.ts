import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { textTokens } from "../thread/tokens.ts";
import { parseNotes, sectionSizes } from "./sections.ts";
import { notesForSummary } from "./summary.ts";
import { NOTES_SECTIONS, NOTES_TEMPLATE } from "./template.ts";

/** Notes whose sections have about so many tokens, in lines of 30 bytes. */
function notes(tokens: Record<string, number>): string {
  return NOTES_SECTIONS.map(({ name, hint }) => {
    const lines = Array.from({ length: Math.floor((tokens[name] ?? 0) / 10) }, (_, n) =>
      `${name} line ${n} `.padEnd(29, "x"),
    );
    return [`# ${name}`, `_${hint}_`, ...lines, ""].join("\n");
  }).join("\n");
}

const FIVE = ["Title", "Current state", "Task", "Errors and corrections", "Work log"];
const five = (tokens: number) => Object.fromEntries(FIVE.map((name) => [name, tokens]));
const namesIn = (text: string) => parseNotes(text).sections.map(({ name }) => name);
const bodyOf = (text: string, name: string) =>
  parseNotes(text).sections.find((section) => section.name === name)?.body ?? "";

function expectWithin(summary: string): void {
  for (const { tokens } of sectionSizes(summary)) expect(tokens).toBeLessThanOrEqual(2_000);
  expect(textTokens(summary)).toBeLessThanOrEqual(12_000);
}

describe("SESS-04: notes as a summary", () => {
  it("one fat section is cut at a line's end, its newest lines stay, the others stay whole", () => {
    const text = notes({ ...five(300), "Work log": 11_500 });
    const summary = notesForSummary(text);
    expect(namesIn(summary)).toEqual(FIVE);
    expectWithin(summary);
    for (const name of FIVE.slice(0, 4)) {
      expect(bodyOf(text, name)).toContain(bodyOf(summary, name));
      expect(bodyOf(summary, name).split("\n")).toHaveLength(30);
    }
    const [mark, ...lines] = bodyOf(summary, "Work log").split("\n");
    expect(mark).toMatch(/^\[… what came before/);
    expect(lines.at(-1)).toMatch(/^Work log line 1149 x+$/);
    for (const line of lines) expect(line).toHaveLength(29);
    expect(lines.length).toBeGreaterThan(180);
  });

  it("five sections that are all too long are held to their limit, each with a mark", () => {
    const summary = notesForSummary(notes(five(2_600)));
    expect(namesIn(summary)).toEqual(FIVE);
    expectWithin(summary);
    for (const { name, tokens } of sectionSizes(summary)) {
      expect(tokens).toBeGreaterThan(1_950);
      expect(bodyOf(summary, name)).toContain("left out: the notes are too long]");
    }
  });

  it("all nine at once: where the work stands keeps what it has, the rest shares", () => {
    const all = Object.fromEntries(NOTES_SECTIONS.map(({ name }) => [name, 2_600]));
    const summary = notesForSummary(notes({ ...all, Title: 30 }));
    expectWithin(summary);
    const sizes = new Map(sectionSizes(summary).map(({ name, tokens }) => [name, tokens]));
    expect([...sizes.keys()]).toEqual(NOTES_SECTIONS.map(({ name }) => name));
    for (const kept of ["Current state", "Errors and corrections"]) {
      expect(sizes.get(kept)).toBeGreaterThan(1_950);
    }
    for (const tokens of [...sizes.values()].slice(4)) expect(tokens).toBeGreaterThan(1_200);
    expect(sizes.get("Title")).toBeGreaterThan(20);
  });

  it("a section without a line break is cut too, at a character", () => {
    const summary = notesForSummary(`# Task\n${"汉".repeat(9_000)}\n`);
    expectWithin(summary);
    expect(bodyOf(summary, "Task")).toMatch(/^汉+\n\[…/);
    expect(textTokens(summary)).toBeGreaterThan(1_950);
  });

  it("sections in which nothing was noted are left out; notes without content are nothing", () => {
    expect(notesForSummary(NOTES_TEMPLATE)).toBe("");
    expect(notesForSummary(notes({ Task: 30 }))).toMatch(/^# Task\nTask line 0/);
  });

  it("whatever is in them: headings survive and the limits hold", () => {
    const body = fc.array(fc.string({ maxLength: 4_000, unit: "binary" }), { maxLength: 40 });
    fc.assert(
      fc.property(fc.array(body, { minLength: 9, maxLength: 9 }), (bodies) => {
        const text = NOTES_SECTIONS.map(
          ({ name }, n) => `# ${name}\nnoted\n${bodies[n]?.join("\n")}`,
        ).join("\n");
        const summary = notesForSummary(text);
        expect(namesIn(summary)).toEqual(NOTES_SECTIONS.map(({ name }) => name));
        expectWithin(summary);
      }),
      { numRuns: 30 },
    );
  });
});
