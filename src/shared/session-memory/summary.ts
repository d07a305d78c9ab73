// The notes as the summary of a conversation, cut to their limits whatever a fork or a person wrote.

import { NOTES_SECTION_TOKENS, NOTES_TOKENS } from "../limits/notes.ts";
import { byteLength, cutBytes } from "../text/bytes.ts";
import { BYTES_PER_TOKEN } from "../thread/tokens.ts";
import type { Section } from "./sections.ts";
import { contentOf, parseNotes, renderNotes } from "./sections.ts";
import { KEPT_WHOLE } from "./template.ts";

interface SummaryLimits {
  /** Tokens of one section with its heading, and of all. */
  sectionTokens: number;
  tokens: number;
}

const MARK = "[… the rest of this section was left out: the notes are too long]";
const MARK_BEFORE = "[… what came before was left out: the notes are too long]";
/** The section whose newest lines are the last ones. */
const NEWEST_LAST = "Work log";

/**
 * Cuts notes for a summary: each section and the whole to their limits, at line ends with a mark. It
 * leaves out empty sections and the hints of the template. If all together are too long it cuts the
 * longest sections, but never those of `KEPT_WHOLE`. The result is "" if nothing was noted.
 */
export function notesForSummary(
  text: string,
  limits: SummaryLimits = { sectionTokens: NOTES_SECTION_TOKENS, tokens: NOTES_TOKENS },
): string {
  const sections = parseNotes(text).sections.flatMap((section): Section[] => {
    const body = contentOf(section);
    return body === "" ? [] : [{ name: section.name, body }];
  });
  const most = limits.sectionTokens * BYTES_PER_TOKEN;
  const bounded = sections.map((section) => cutSection(section, most));
  const bytes = shares(bounded, limits.tokens * BYTES_PER_TOKEN);
  return renderNotes(bounded.map((section, n) => cutSection(section, bytes[n] ?? 0)));
}

/** Bytes for each section: first for those that are kept whole, then for the shortest. */
function shares(sections: readonly Section[], most: number): number[] {
  // One byte each for the blank line between two of them.
  let left = most - sections.length;
  const sizes = sections.map((section, n) => ({ n, bytes: sizeOf(section), name: section.name }));
  const order = sizes.sort(
    (a, b) => Number(KEPT_WHOLE.has(b.name)) - Number(KEPT_WHOLE.has(a.name)) || a.bytes - b.bytes,
  );
  const given: number[] = sections.map(() => 0);
  for (const [position, { n, bytes, name }] of order.entries()) {
    const fair = Math.floor(left / (order.length - position));
    const share = KEPT_WHOLE.has(name) ? Math.min(bytes, left) : Math.min(bytes, fair);
    given[n] = share;
    left -= share;
  }
  return given;
}

/** As many whole lines as fit; if not even one fits, its beginning. */
function cutSection(section: Section, most: number): Section {
  if (sizeOf(section) <= most) return section;
  const fromEnd = section.name === NEWEST_LAST;
  const mark = fromEnd ? MARK_BEFORE : MARK;
  let left = most - sizeOf({ ...section, body: mark });
  const lines = section.body.split("\n");
  const kept: string[] = [];
  for (const line of fromEnd ? lines.toReversed() : lines) {
    const bytes = byteLength(line) + 1;
    if (bytes > left) {
      const part = kept.length === 0 ? cutBytes(line, left - 1) : "";
      if (part !== "") kept.push(part);
      break;
    }
    kept.push(line);
    left -= bytes;
  }
  const body = fromEnd ? [mark, ...kept.toReversed()] : [...kept, mark];
  return { ...section, body: body.join("\n") };
}

function sizeOf(section: Section): number {
  return byteLength(renderNotes([section]));
}
