/**
 * Text that comes from files, put between tags in a prompt: `<tag path="…">…</tag>`. The text can
 * neither close its tag nor hide characters: a tag of that name within it loses its bracket, and
 * control, bidirectional, zero-width and tag characters are shown as escapes.
 */
export function fence(tag: string, path: string, text: string): string {
  const attribute = visible(path).replaceAll('"', "%22").replaceAll("<", "%3C");
  return `<${tag} path="${attribute}">\n${inert(tag, text)}\n</${tag}>`;
}

function inert(tag: string, text: string): string {
  const tags = new RegExp(`<(?=\\s*/?\\s*(?:${tag}|system-reminder)\\b)`, "giu");
  return visible(text).replaceAll(tags, "&lt;");
}

/** The same text with every character that people cannot see written as an escape. */
function visible(text: string): string {
  return text.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    if (character === "\n" || character === "\t") return character;
    // Joins letters in several scripts and emoji; hides nothing by itself.
    if (character === "\u200d" || character === "\u200c") return character;
    if (character === "\r") return "";
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}
