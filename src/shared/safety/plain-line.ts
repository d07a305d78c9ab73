import { cutCharacters } from "../text/bytes.ts";
import { oneLine } from "../text/frontmatter-fields.ts";
import { escapeText } from "./fence.ts";

/** What opens or closes a tag, whatever its name. */
const TAG = /<(?=\s*(?:[/!?]\s*)?[\p{L}_])/gu;

/**
 * Text from outside as part of one line of a prompt, at most so many characters: line ends are blanks,
 * hidden characters are shown as escapes, and no tag opens or closes. The same for the same text.
 */
export function plainLine(text: string, most: number): string {
  // Cut before it is looked at, so that a long text costs no more than a short one.
  const line = oneLine(cutCharacters(text, most * 2)).replaceAll("\t", " ");
  const plain = escapeText("system-reminder", line).replaceAll(TAG, "&lt;");
  const cut = cutCharacters(plain, most);
  return cut === plain ? plain : `${cutCharacters(plain, most - 1).trimEnd()}…`;
}
