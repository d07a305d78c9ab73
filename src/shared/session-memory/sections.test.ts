import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  changedSections,
  contentOf,
  lostHeadings,
  notesHaveContent,
  parseNotes,
  renderNotes,
  sectionSizes,
} from "./sections.ts";
import { NOTES_SECTIONS, NOTES_TEMPLATE } from "./template.ts";

const names = NOTES_SECTIONS.map(({ name }) => name);
const filled = NOTES_TEMPLATE.replace("# Task\n", "# Task\nBuild a boat.\n");

describe("notes as sections", () => {
  it("the template has every section once, in its order, and holds nothing", () => {
    const { before, sections } = parseNotes(NOTES_TEMPLATE);
    expect(before).toBe("");
    expect(sections.map(({ name }) => name)).toEqual(names);
    expect(renderNotes(sections)).toBe(NOTES_TEMPLATE);
    expect(sections.map(contentOf)).toEqual(names.map(() => ""));
    expect(notesHaveContent(NOTES_TEMPLATE)).toBe(false);
    expect(notesHaveContent(filled)).toBe(true);
    expect(notesHaveContent("")).toBe(false);
  });

  it("only the names of the template are headings: a comment or a heading of one's own is text", () => {
    const text = filled.replace("Build a boat.", "# build it\n## Task\n#Task\n# make boat # Task");
    const { sections } = parseNotes(text);
    expect(sections.map(({ name }) => name)).toEqual(names);
    expect(sections[2]?.body).toMatch(/^# build it\n## Task\n#Task\n# make boat # Task\n_/);
  });

  it("names what is lost, in the order of the template", () => {
    expect(lostHeadings(NOTES_TEMPLATE)).toEqual([]);
    expect(lostHeadings(filled.replace("# Work log", "").replace("# Task", "# Tasks"))).toEqual([
      "Task",
      "Work log",
    ]);
    expect(lostHeadings("")).toEqual(names);
  });

  it("sizes count three bytes a token, headings included, Chinese as what it is", () => {
    const [first] = sectionSizes("# Title\n汉字汉字\n");
    expect(first).toEqual({ name: "Title", tokens: Math.ceil((8 + 12 + 1) / 3) });
  });

  it("tells which sections say something else", () => {
    expect(changedSections(NOTES_TEMPLATE, filled).map(({ name }) => name)).toEqual(["Task"]);
    expect(changedSections(filled, `${filled}\n`)).toEqual([]);
  });

  it("whatever the bodies: rendered and read again they are the same", () => {
    const line = fc.string().map((text) => text.replaceAll(/[\r\n]/g, " "));
    fc.assert(
      fc.property(fc.array(fc.array(line), { minLength: 9, maxLength: 9 }), (bodies) => {
        const text = names.map((name, n) => `# ${name}\n${bodies[n]?.join("\n")}\n`).join("\n");
        const { sections } = parseNotes(text);
        expect(parseNotes(renderNotes(sections)).sections).toEqual(sections);
      }),
    );
  });
});
