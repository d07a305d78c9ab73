// What no reader would take, with its place: a file that holds it is refused when it is written.

import { decodeText } from "./decode.ts";

const lossy = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

/**
 * What a reader would refuse these bytes for, and where: "a NUL (U+0000) at line 2, column 6 (byte
 * 14)". Undefined where `decodeText` reads them. Lines, columns (in characters) and bytes count from 1.
 */
export function whyUnreadable(bytes: Uint8Array): string | undefined {
  if (decodeText(bytes) !== undefined) return undefined;
  const nul = bytes.indexOf(0);
  const odd = firstNotUtf8(bytes);
  const isNul = nul !== -1 && (odd === undefined || nul < odd);
  const at = isNul ? nul : (odd ?? 0);
  const what = isNul ? "a NUL (U+0000)" : "a byte that is not UTF-8";
  const before = lossy.decode(bytes.subarray(0, at));
  return `${what} at ${placeOf(before, before.length)} (byte ${at + 1})`;
}

/** Where the first half of a character is (a lone surrogate, which UTF-8 cannot hold), if there is one. */
export function whereHalved(text: string): string | undefined {
  if (text.isWellFormed()) return undefined;
  return placeOf(text, text.search(/\p{Surrogate}/u));
}

/** "line 2, column 6" of an index into a text, in characters. */
function placeOf(text: string, index: number): string {
  const lines = text.slice(0, index).split("\n");
  return `line ${lines.length}, column ${[...(lines.at(-1) ?? "")].length + 1}`;
}

/** The first byte where the bytes are not what a decoder makes of them. */
function firstNotUtf8(bytes: Uint8Array): number | undefined {
  const repaired = new TextEncoder().encode(lossy.decode(bytes));
  const found = repaired.findIndex((byte, index) => byte !== bytes[index]);
  if (found === -1) return undefined;
  // U+FFFD is EF BF BD: what is cut off after EF or EF BF looks like it up to there.
  if (bytes[found - 1] === 0xef) return found - 1;
  return bytes[found - 2] === 0xef && bytes[found - 1] === 0xbf ? found - 2 : found;
}
