// Sizes of a text, and cuts that split no character.

const encoder = new TextEncoder();

/** UTF-8 bytes of a text. A lone surrogate counts as U+FFFD. */
export function byteLength(text: string): number {
  return encoder.encode(text).length;
}

/** The longest beginning of a text, in whole characters, with at most `most` UTF-8 bytes. */
export function cutBytes(text: string, most: number): string {
  const { read } = encoder.encodeInto(text, new Uint8Array(Math.max(0, most)));
  return text.slice(0, read);
}

/** The first `most` characters (code points) of a text. */
export function cutCharacters(text: string, most: number): string {
  if (text.length <= most) return text;
  let end = 0;
  for (let count = 0; count < most && end < text.length; count += 1) {
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  }
  return text.slice(0, end);
}
