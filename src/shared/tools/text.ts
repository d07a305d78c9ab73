// Text for a model: cut where no character is split, and said so.

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The first `most` characters (code points) of a text. */
export function cutCharacters(text: string, most: number): string {
  if (text.length <= most) return text;
  let end = 0;
  for (let count = 0; count < most && end < text.length; count += 1) {
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  }
  return text.slice(0, end);
}

/** As much of a text's beginning as fits into `most` UTF-8 bytes, whole characters only. */
export function cutBytes(text: string, most: number): string {
  const { read } = encoder.encodeInto(text, new Uint8Array(most));
  return text.slice(0, read);
}

/** UTF-8 bytes of a text. */
export function byteLength(text: string): number {
  return encoder.encode(text).length;
}

/** Half characters (lone surrogates) become U+FFFD: the API refuses them, and JSON breaks on them. */
export function wellFormed(text: string): string {
  return text.toWellFormed();
}

/** The text of a file, its byte order mark included; undefined if it is binary (NUL, not UTF-8). */
export function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Lines without their "\n" or "\r\n"; a final line end starts no further line. "" has none. */
export function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
}

/** One line of a result: cut and marked where it is longer than `most` characters. */
export function showLine(line: string, most: number): string {
  const cut = cutCharacters(line, most);
  if (cut.length === line.length) return line;
  return `${cut} [cut: the first ${most} characters of a longer line]`;
}
