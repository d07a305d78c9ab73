// The size of a text as JSON in UTF-8: rows, events and requests are limited by it.

/** UTF-8 bytes of a text within JSON, without its quotes. A lone surrogate counts as U+FFFD. */
export function jsonBytes(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length; at += 1) {
    const size = unitBytes(text, at);
    bytes += size;
    if (size === 4) at += 1;
  }
  return bytes;
}

/** The longest beginning of a text, in whole characters, that has at most `most` bytes of JSON. */
export function cutJson(text: string, most: number): string {
  let bytes = 0;
  let at = 0;
  while (at < text.length) {
    const size = unitBytes(text, at);
    if (bytes + size > most) break;
    bytes += size;
    at += size === 4 ? 2 : 1;
  }
  return text.slice(0, at);
}

/** Bytes of the character at an index; 4 means exactly that it takes two UTF-16 units. */
function unitBytes(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code < 0x20) return code >= 8 && code <= 13 && code !== 11 ? 2 : 6;
  if (code === 0x22 || code === 0x5c) return 2;
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return (text.codePointAt(at) ?? 0) > 0xffff ? 4 : 3;
}
