/**
 * Text that comes from files, put between tags in a prompt: `<tag path="…">…</tag>`. The text can
 * neither close its tag nor hide characters: a tag of that name within it loses its bracket, and
 * control, bidirectional, zero-width and tag characters are shown as escapes.
 */
export function fence(tag: string, path: string, text: string): string {
  const attribute = visible(path).replaceAll('"', "%22").replaceAll("<", "%3C");
  return `<${tag} path="${attribute}">\n${escapeText(tag, text)}\n</${tag}>`;
}

/** What stands between the tags: it can neither close `tag` or a reminder nor hide characters. */
export function escapeText(tag: string, text: string): string {
  if (PLAIN.test(text)) return text;
  const tags = new RegExp(`<(?=\\s*(?:/\\s*)?(?:${tag}|system-reminder)\\b)`, "giu");
  return visible(text).replaceAll(tags, "&lt;");
}

/** Printable ASCII without a bracket: the most of what there is, and nothing to look for in it. */
const PLAIN = /^[\t\n\x20-;=-~]*$/;
/** Marks that belong to the visible character before them: parts of an emoji or of a word. */
const JOINED =
  /(?<=\p{Extended_Pictographic}|\p{Emoji_Modifier})[\ufe0e\ufe0f\u200d]|(?<=[^\P{L}A-Za-z]|\p{M})[\u200c\u200d](?=[\p{L}\p{M}])/gu;
/** What people cannot see: controls, formats, what Unicode lets a font ignore, and blanks that pass as letters. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}\u2800]/gu;

/** The same text with every character that people cannot see written as an escape. */
function visible(text: string): string {
  const whole = text.toWellFormed();
  const joined = new Set([...whole.matchAll(JOINED)].map((match) => match.index));
  return whole.replaceAll(HIDDEN, (character, index: number) => {
    if (character === "\n" || character === "\t" || joined.has(index)) return character;
    if (character === "\r") return "";
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}
