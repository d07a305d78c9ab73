// A model that rewrites a whole index from memory tends to lose it, or to write "the rest stays as it
// is" where the rest stood. This refuses both before they reach the store.

import { INDEX_FILE } from "./entrypoint.ts";
import { indexLines, parseIndex } from "./index-lines.ts";

/** Fewer lost pointers than this are a deliberate tidying up. */
export const LOST_POINTERS_LEAST = 5;
/** A rewrite that loses more than this share of the pointers is refused. */
const LOST_POINTERS_SHARE = 0.5;

export interface DroppedPointers {
  /** Files that the index pointed to before, and how many of them it still points to. */
  before: number;
  kept: number;
  /** The files whose pointers would go. */
  lost: string[];
  /** The line that stands for what was left out. */
  placeholder: string | undefined;
  /** For the writer. */
  message: string;
}

/** Marks around a whole line that is no text of its own: brackets, a comment or an ellipsis. */
const MARKED = /^(?:[[(<{*_].*[\])>}*_.…]|.*(?:\.\.\.|…)|(?:\.\.\.|…).*|(?:\/\/|#).*)$/s;
const REST =
  /\b(?:rest|remainder|remaining|existing|previous|prior|other|earlier|original|more|all)\b/i;
const STAYS =
  /\b(?:unchanged|unmodified|untouched|omitted|truncated|remains?|stays?|kept|keep|same|as before|as is|content|contents|entries|lines|pointers|file|index|memories|items|below|above|here)\b/i;
const ONLY_ELLIPSIS = /^[[(<]?\s*(?:\.{3,}|…)\s*[\])>]?$/;
/** A placeholder is a remark, not a paragraph; in characters. */
const PLACEHOLDER_CHARACTERS = 160;

/**
 * Why to refuse a full rewrite of an index: it loses at least five and more than half of
 * the pointers, or a line that is no pointer stands for content that was left out ("[Rest of the
 * existing file…]", "... existing content unchanged"; a bare "..." only if a pointer goes with it).
 * Undefined where nothing speaks against it. Not for Edit, whose author names what goes; a topic file's deletion
 * takes its pointer out first.
 */
export function dropsMostPointers(before: string, after: string): DroppedPointers | undefined {
  const old = targets(before);
  const present = targets(after);
  const lost = [...old].filter((target) => !present.has(target));
  const placeholder = placeholderOf(before, after, lost.length > 0);
  const most = lost.length >= LOST_POINTERS_LEAST && lost.length > old.size * LOST_POINTERS_SHARE;
  if (!most && placeholder === undefined) return undefined;
  const kept = old.size - lost.length;
  const what =
    placeholder === undefined
      ? `it keeps ${kept} of ${old.size} pointers`
      : `the line ${JSON.stringify(placeholder)} would be stored as it is and replaces nothing (${kept} of ${old.size} pointers are kept)`;
  const message = `${INDEX_FILE} was not written: ${what}. Nothing has changed. Use Edit to add, change or remove single lines; to drop a memory, delete its file.`;
  return { before: old.size, kept, lost, placeholder, message };
}

function targets(text: string): Set<string> {
  return new Set(parseIndex(text).map(({ path }) => path));
}

function placeholderOf(before: string, after: string, loses: boolean): string | undefined {
  const old = new Set(before.split("\n").map((line) => line.trim()));
  for (const { text, pointer } of indexLines(after)) {
    const line = text.trim();
    if (pointer || line === "" || line.length > PLACEHOLDER_CHARACTERS || old.has(line)) continue;
    const remark = line.replace(/^(?:[-*+]|\d{1,9}[.)])\s+/, "");
    if (ONLY_ELLIPSIS.test(remark) ? loses : isPlaceholder(remark)) return line;
  }
  return undefined;
}

function isPlaceholder(remark: string): boolean {
  return MARKED.test(remark) && REST.test(remark) && STAYS.test(remark);
}
