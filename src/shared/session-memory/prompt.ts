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
 * What the notes fork is asked to do, put behind the conversation as it was. The notes stand in it
 * whole, so that Edit may change what the fork was shown.
 */
export function notesPrompt(notes: string, iterations: number): string {
  return `This is not from the user: you now run in the background, and nobody reads your answer.

Bring the notes on this conversation up to date. They are the file \`${NOTES_PATH}\` and stand below, whole: do not read it. When the conversation becomes too long they are what is left of it, so write down what somebody needs to go on without it.
- Edit is the one tool that works now, and \`${NOTES_PATH}\` the one file. You have ${iterations} steps: make all edits in one answer, then stop.
- Leave every heading as it is and where it is. The line in italics under it says what belongs there.
- Replace what no longer holds, and say of finished work that it is finished. Add to the work log.
- Note what was said and done in this conversation, nothing else: no rules for yourself, nothing about these notes. Names, paths, commands, figures and messages exactly.
- Up to ${shown(NOTES_SECTION_TOKENS)} tokens a section, ${shown(NOTES_TOKENS)} in all. ${condensing(notes)}
- Where nothing has changed, say so in a few words and stop.

${fence("session_notes", NOTES_PATH, notes.trimEnd())}`;
}

/**
 * The sections to condense: each that is over its own limit, and, where the whole is still over its
 * limit without what they have too much, the largest others, until they could make up for the rest.
 */
export function toCondense(notes: string, limits: SizeLimits = DEFAULT_LIMITS): SectionSize[] {
  const sizes = sectionSizes(notes);
  const chosen = sizes.filter(({ tokens }) => tokens > limits.sectionTokens);
  const held = sizes.map(({ tokens }) => Math.min(tokens, limits.sectionTokens));
  let excess = held.reduce((sum, tokens) => sum + tokens, 0) - limits.tokens;
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
  const sections = toCondense(notes);
  if (sections.length === 0) return "None of it is too long yet.";
  const named = sections.map(({ name, tokens }) => `"${name}" (${shown(tokens)} tokens)`);
  const over = textTokens(notes) > NOTES_TOKENS ? "The notes are too long. " : "";
  return `${over}Condense these sections first, keeping what still matters: ${named.join(", ")}.`;
}

function shown(tokens: number): string {
  return tokens.toLocaleString("en");
}
