// The text of a file as a model reads it.

import { cutCharacters } from "./bytes.ts";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

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
