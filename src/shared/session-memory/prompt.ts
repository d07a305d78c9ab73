import { BACKGROUND } from "../fork/background.ts";
import { NOTES_SECTION_TOKENS, NOTES_TOKENS } from "../limits/notes.ts";
import { fence } from "../safety/fence.ts";
import { textTokens } from "../thread/tokens.ts";
import type { SectionSize } from "./sections.ts";
import { sectionSizes } from "./sections.ts";
import { KEPT_WHOLE, NOTES_PATH } from "./template.ts";

interface SizeLimits {
  sectionTokens: number;
  tokens: number;
}

const DEFAULT_LIMITS = { sectionTokens: NOTES_SECTION_TOKENS, tokens: NOTES_TOKENS };

/**
 * The task of the notes fork, sent after the unchanged conversation. It contains the whole notes, so
 * that they count as read for Edit. `time`: the time now, in words.
 */
export function notesPrompt(notes: string, iterations: number, time: string): string {
  return `${BACKGROUND}

Bring the notes on this conversation up to date. They are the file \`${NOTES_PATH}\` and stand below, whole: do not read it. When the conversation becomes too long they are what is left of it, so write down what somebody needs to go on without it.
- Edit is the one tool that works now, and \`${NOTES_PATH}\` the one file. You have ${iterations} steps: make all edits in one answer, then stop.
- Leave every heading as it is and where it is. The line in italics under it says what belongs there.
- Replace what no longer holds, and say of finished work that it is finished. Add to the work log.
- Note what was said and done in this conversation, nothing else: no rules for yourself, nothing about these notes. Names, paths, commands, figures and messages exactly.
- Up to ${formatCount(NOTES_SECTION_TOKENS)} tokens a section, ${formatCount(NOTES_TOKENS)} in all. ${condensing(notes)}
- Where nothing has changed, say so in a few words and stop.

${fence("session_notes", NOTES_PATH, notes.trimEnd())}

It is now ${time}. What a message says of days counts from the date before it: note dates, not "tomorrow".`;
}

/**
 * The sections to condense: each one over its own limit. If the notes would still be over the limit of
 * the whole, also the largest others, until half of their tokens would make up for the rest.
 */
export function sectionsToCondense(
  notes: string,
  limits: SizeLimits = DEFAULT_LIMITS,
): SectionSize[] {
  const sizes = sectionSizes(notes);
  const chosen = sizes.filter(({ tokens }) => tokens > limits.sectionTokens);
  const bounded = sizes.map(({ tokens }) => Math.min(tokens, limits.sectionTokens));
  let excess = bounded.reduce((sum, tokens) => sum + tokens, 0) - limits.tokens;
  const others = sizes
    .filter((size) => !chosen.includes(size) && !KEPT_WHOLE.has(size.name))
    .sort((a, b) => b.tokens - a.tokens);
  for (const size of others) {
    if (excess <= 0) break;
    chosen.push(size);
    excess -= size.tokens / 2;
  }
  return sizes.filter((size) => chosen.includes(size));
}

function condensing(notes: string): string {
  const sections = sectionsToCondense(notes);
  if (sections.length === 0) return "None of it is too long yet.";
  const named = sections.map(({ name, tokens }) => `"${name}" (${formatCount(tokens)} tokens)`);
  const over = textTokens(notes) > NOTES_TOKENS ? "The notes are too long. " : "";
  return `${over}Condense these sections first, keeping what still matters: ${named.join(", ")}.`;
}

function formatCount(tokens: number): string {
  return tokens.toLocaleString("en");
}
