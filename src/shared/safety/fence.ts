/**
 * Puts the text of a file between tags for a prompt: `<tag path="…">…</tag>`. The text can neither close
 * its tag nor hide characters: the bracket of such a tag within it is escaped, and so are control,
 * bidirectional, zero-width and tag characters.
 */
export function fence(tag: string, path: string, text: string): string {
  const attribute = showHidden(path).replaceAll('"', "%22").replaceAll("<", "%3C");
  return `<${tag} path="${attribute}">\n${escapeText(tag, text)}\n</${tag}>`;
}

/** Escapes the text between the tags: it can neither close `tag` or a reminder nor hide characters. */
export function escapeText(tag: string, text: string): string {
  if (PLAIN.test(text)) return text;
  const tags = new RegExp(`<(?=\\s*(?:/\\s*)?(?:${tag}|system-reminder)\\b)`, "giu");
  return showHidden(text).replaceAll(tags, "&lt;");
}

/**
 * The same text without a tag of our reminders: what a person or a client's tool says can hold one, and
 * is no word of ours. Nothing else changes.
 */
export function escapeReminders(text: string): string {
  return text.replaceAll(REMINDER_TAG, "&lt;");
}

const REMINDER_TAG = /<(?=\s*(?:\/\s*)?system-reminder\b)/giu;

/** Printable ASCII without a bracket, as most texts are: nothing to escape. */
const PLAIN = /^[\t\n\x20-;=-~]*$/;
/** Marks that belong to the visible character before them: parts of an emoji or of a word. */
export const JOINED =
  /(?<=\p{Extended_Pictographic}|\p{Emoji_Modifier})[\ufe0e\ufe0f\u200d]|(?<=[^\P{L}A-Za-z]|\p{M})[\u200c\u200d](?=[\p{L}\p{M}])/gu;
/** Invisible characters: controls, formats, default ignorables, and blanks that count as letters. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}\u2800]/gu;

/** The same text with an escape for each invisible character. */
function showHidden(text: string): string {
  const whole = text.toWellFormed();
  const joined = new Set([...whole.matchAll(JOINED)].map((match) => match.index));
  return whole.replaceAll(HIDDEN, (character, index: number) => {
    if (character === "\n" || character === "\t" || joined.has(index)) return character;
    if (character === "\r") return "";
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}
