// What of a memory is shown: the assistant knows its name and description from the index.

import { RECALL_BODY_WORDS } from "../limits/recall.ts";
import { parseEntry } from "../memdir/entry.ts";
import { cutCharacters } from "../text/bytes.ts";
import { findFrontmatter } from "../text/frontmatter.ts";
import { readFields } from "../text/frontmatter-fields.ts";
import { wordCount } from "./words.ts";

/** Fields that the index, the list or the attachment itself tells. */
const TOLD = new Set(["name", "description", "type", "metadata", "created", "modified"]);
/** Enough to see whether a body has words, in characters. */
const START = 400;

/**
 * The body of a memory where it stands by itself, else the whole text: where the frontmatter cannot be
 * read or says more than name, description, type and times, and where the body has hardly a word.
 */
export function shownPart(text: string): string {
  const found = findFrontmatter(text);
  if (found.status !== "closed" || parseEntry(text).diagnostic !== undefined) return text;
  const fields = readFields(found.block);
  if (fields === undefined || fields.some(({ key }) => !TOLD.has(key))) return text;
  const body = text.slice(found.bodyStart).replace(/^(?:[ \t\r]*\n)+/, "");
  return wordCount(cutCharacters(body, START)) < RECALL_BODY_WORDS ? text : body;
}
