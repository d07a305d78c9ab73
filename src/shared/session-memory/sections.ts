// The sections of the notes. A line "# <name>" with the name of a section begins it. Every other line
// belongs to the section above, even if it looks like a heading.

import { textTokens } from "../thread/tokens.ts";
import { hintLine, NOTES_SECTIONS } from "./template.ts";

export interface Section {
  name: string;
  /** The text under the heading, without blank lines at its ends. */
  body: string;
}

interface ParsedNotes {
  /** The text before the first heading. */
  before: string;
  /** In the order of the text; a name may occur twice, or not at all. */
  sections: Section[];
}

export interface SectionSize {
  name: string;
  tokens: number;
}

const HINTS: ReadonlyMap<string, string> = new Map(
  NOTES_SECTIONS.map(({ name, hint }) => [name, hintLine(hint)]),
);

/** Reads any text as notes. */
export function parseNotes(text: string): ParsedNotes {
  const before: string[] = [];
  const sections: { name: string; lines: string[] }[] = [];
  for (const line of text.split(/\r?\n/)) {
    const name = headingIn(line);
    if (name !== undefined) sections.push({ name, lines: [] });
    else (sections.at(-1)?.lines ?? before).push(line);
  }
  return {
    before: trimmed(before),
    sections: sections.map(({ name, lines }) => ({ name, body: trimmed(lines) })),
  };
}

/** Sections as a text, each under its heading. */
export function renderNotes(sections: readonly Section[]): string {
  return sections
    .map(({ name, body }) => (body === "" ? `# ${name}\n` : `# ${name}\n${body}\n`))
    .join("\n");
}

/** The headings of the template that are missing in a text, in their order. */
export function lostHeadings(text: string): string[] {
  const names = new Set(parseNotes(text).sections.map(({ name }) => name));
  return NOTES_SECTIONS.flatMap(({ name }) => (names.has(name) ? [] : [name]));
}

/** Tokens of each section with its heading, in their order. */
export function sectionSizes(text: string): SectionSize[] {
  return parseNotes(text).sections.map((section) => ({
    name: section.name,
    tokens: textTokens(renderNotes([section])),
  }));
}

/** The sections of the new text whose body differs from the old text. */
export function changedSections(before: string, after: string): SectionSize[] {
  const old = new Map(parseNotes(before).sections.map(({ name, body }) => [name, body]));
  const bodies = new Map(parseNotes(after).sections.map(({ name, body }) => [name, body]));
  return sectionSizes(after).filter(({ name }) => bodies.get(name) !== old.get(name));
}

/** What was noted in a section: its body without the hint of the template. */
export function contentOf({ name, body }: Section): string {
  const hint = HINTS.get(name);
  return trimmed(body.split("\n").filter((line) => line.trim() !== hint));
}

/** Whether anything was noted, beyond the template. */
export function notesHaveContent(text: string): boolean {
  const { before, sections } = parseNotes(text);
  return before !== "" || sections.some((section) => contentOf(section) !== "");
}

function headingIn(line: string): string | undefined {
  const name = /^#[ \t]+(.*?)[ \t]*$/.exec(line)?.[1];
  return name !== undefined && HINTS.has(name) ? name : undefined;
}

function trimmed(lines: readonly string[]): string {
  const blank = (line: string) => line.trim() === "";
  const first = lines.findIndex((line) => !blank(line));
  const last = lines.findLastIndex((line) => !blank(line));
  return first < 0 ? "" : lines.slice(first, last + 1).join("\n");
}
