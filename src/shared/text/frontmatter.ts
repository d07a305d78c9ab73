// Finds the frontmatter of a memory file; `frontmatter-fields.ts` reads it.

/**
 * A frontmatter block, in characters. Real ones have a few hundred; the time and stack of a YAML parser
 * grow with its input.
 */
export const FRONTMATTER_CHARACTERS = 16_384;

export type Frontmatter =
  | { status: "none" }
  /** An opening fence without a closing one within the limit. */
  | { status: "open"; block: string }
  | { status: "closed"; block: string; bodyStart: number };

const BOM = "\ufeff";
const BLANK = /^[ \t\r]*$/;
const OPENING = /^---[ \t]*\r?$/;
/** YAML's end of a document closes the block too. */
const CLOSING = /^(?:---|\.\.\.)[ \t]*\r?$/;

/** A blank line, a comment, or a key without a value. */
const EMPTY_LINE = /^[ \t]*(?:#.*|[\p{L}\p{N}_-]+[ \t]*:[ \t]*(?:""|'')?[ \t]*(?:#.*)?)?\r?$/u;

/**
 * Finds the block between the fences. The opening fence is the first line that is not blank, after
 * a byte order mark if there is one: exactly three dashes, blanks may follow. "----", "---js" and
 * "--- title ---" are text. Lines end in "\n" or "\r\n"; a file with "\r" alone has no frontmatter.
 * `from`: where to begin, after a block that holds nothing.
 */
export function findFrontmatter(text: string, from = textStart(text)): Frontmatter {
  let line = lineAt(text, from);
  while (BLANK.test(line.text) && line.next < text.length) line = lineAt(text, line.next);
  if (!OPENING.test(line.text)) return { status: "none" };
  const start = line.next;
  while (line.next < text.length && line.next - start <= FRONTMATTER_CHARACTERS) {
    line = lineAt(text, line.next);
    if (!CLOSING.test(line.text)) continue;
    return { status: "closed", block: text.slice(start, line.start), bodyStart: line.next };
  }
  return { status: "open", block: text.slice(start, start + FRONTMATTER_CHARACTERS) };
}

/** Whether a block holds nothing: what a template leaves above the real one. */
export function isStub(block: string): boolean {
  return block.split("\n").every((line) => EMPTY_LINE.test(line));
}

/** Where a text begins after its byte order mark. */
export function textStart(text: string): number {
  return text.startsWith(BOM) ? BOM.length : 0;
}

function lineAt(text: string, start: number): { text: string; start: number; next: number } {
  const feed = text.indexOf("\n", start);
  const end = feed === -1 ? text.length : feed;
  return { text: text.slice(start, end), start, next: feed === -1 ? end : feed + 1 };
}
