// Replaces text by slices, so that nothing in the new text is read as a pattern ("$&", "$1").

type Replacement =
  | { status: "replaced"; text: string; count: number }
  | { status: "missing" }
  /** `count` matches, overlapping ones included; counting stops at `MOST_MATCHES`. */
  | { status: "ambiguous"; count: number };

/** Counting stops here: all overlapping matches of a long text would take quadratic time. */
export const MOST_MATCHES = 1000;

/**
 * Puts `replacement` in the place of `wanted`: at its only match, or with `all` at every match from left
 * to right. The rest of the text stays as it is, byte for byte.
 *
 * In a text with CRLF a `wanted` without CR matches both kinds of line end, since Read shows no CR. The
 * new text gets the line ends that most lines have.
 */
export function replaceText(
  text: string,
  wanted: string,
  replacement: string,
  all: boolean,
): Replacement {
  const crlf = text.includes("\r\n") && !wanted.includes("\r");
  const view = crlf ? text.replaceAll("\r\n", "\n") : text;
  const first = view.indexOf(wanted);
  if (first === -1) return { status: "missing" };
  if (!all) {
    const count = countMatches(view, wanted);
    if (count > 1) return { status: "ambiguous", count };
  }
  const inserted = crlf ? withLineEndsOf(text, replacement) : replacement;
  const position = crlf ? positionsIn(text) : (index: number) => index;
  const pieces: string[] = [];
  let kept = 0;
  let count = 0;
  for (let match = first; match !== -1; match = view.indexOf(wanted, match + wanted.length)) {
    pieces.push(text.slice(kept, position(match)), inserted);
    kept = position(match + wanted.length);
    count += 1;
    if (!all) break;
  }
  pieces.push(text.slice(kept));
  return { status: "replaced", text: pieces.join(""), count };
}

function countMatches(text: string, wanted: string): number {
  let count = 0;
  let match = text.indexOf(wanted);
  while (match !== -1 && count < MOST_MATCHES) {
    count += 1;
    match = text.indexOf(wanted, match + 1);
  }
  return count;
}

/** Maps an index of the text without CRs to one of the text. Call it in ascending order only. */
function positionsIn(text: string): (viewIndex: number) => number {
  let removed = 0;
  let next = text.indexOf("\r\n");
  return (viewIndex) => {
    while (next !== -1 && next - removed < viewIndex) {
      removed += 1;
      next = text.indexOf("\r\n", next + 2);
    }
    return viewIndex + removed;
  };
}

function withLineEndsOf(text: string, replacement: string): string {
  if (replacement.includes("\r")) return replacement;
  const all = text.split("\n").length - 1;
  const crlf = text.split("\r\n").length - 1;
  return crlf * 2 >= all ? replacement.replaceAll("\n", "\r\n") : replacement;
}
