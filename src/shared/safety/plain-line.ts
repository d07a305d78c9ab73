import { cutCharacters } from "../text/bytes.ts";
import { oneLine } from "../text/frontmatter-fields.ts";
import { escapeText } from "./fence.ts";

/** The start of a tag of any name. */
const TAG = /<(?=\s*(?:[/!?]\s*)?[\p{L}_])/gu;

/**
 * Text from outside as part of one line of a prompt, at most `most` characters: line ends become blanks,
 * hidden characters and tags are escaped. The same input gives the same bytes.
 */
export function plainLine(text: string, most: number): string {
  // Cut first, so that a long text costs no more than a short one.
  const line = oneLine(cutCharacters(text, most * 2)).replaceAll("\t", " ");
  const plain = escapeText("system-reminder", line).replaceAll(TAG, "&lt;");
  const cut = cutCharacters(plain, most);
  return cut === plain ? plain : `${cutCharacters(plain, most - 1).trimEnd()}…`;
}
