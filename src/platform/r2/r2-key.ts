import { MemdirError } from "../../shared/errors.ts";
import { R2_KEY_BYTES } from "../../shared/limits/files.ts";
import { byteLength } from "../../shared/text/bytes.ts";

const encoder = new TextEncoder();
// Separators, the escape itself and control characters; the rest stays, so that keys are readable.
const RESERVED = /[%/\\\p{Cc}]/gu;

/**
 * One part of a key, so that no id or name can reach beyond its place. A part of dots only is
 * encoded whole. Throws `invalid_request` for an empty part and for a lone surrogate, which R2 would
 * turn into another name.
 */
export function encodeKeyPart(part: string): string {
  if (part === "") throw new MemdirError("invalid_request", "A name in a path cannot be empty");
  if (!part.isWellFormed()) {
    throw new MemdirError("invalid_request", "A name holds half a character (a lone surrogate)");
  }
  if (/^\.+$/.test(part)) return part.replaceAll(".", "%2E");
  return part.replaceAll(RESERVED, (character) =>
    [...encoder.encode(character)]
      .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)
      .join(""),
  );
}

/** The part that `encodeKeyPart` made this of; undefined for what it never makes. */
export function decodeKeyPart(encoded: string): string | undefined {
  try {
    const part = decodeURIComponent(encoded);
    return encodeKeyPart(part) === encoded ? part : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The key of a file: `prefix` + the encoded segments. Throws `invalid_request` where the whole key
 * is over 1,024 UTF-8 bytes, before anything happens.
 */
export function keyOf(prefix: string, path: string): string {
  const key = prefix + path.split("/").map(encodeKeyPart).join("/");
  const excess = byteLength(key) - R2_KEY_BYTES;
  if (excess <= 0) return key;
  throw new MemdirError(
    "invalid_request",
    `Cannot use path "${path}": it is ${excess} bytes too long, with its directory's own prefix ` +
      `the limit is ${R2_KEY_BYTES} bytes; use a shorter name`,
    path,
  );
}

/** The path of a key below `prefix`; undefined for a key that this system did not write. */
export function pathOf(prefix: string, key: string): string | undefined {
  const parts: string[] = [];
  for (const encoded of key.slice(prefix.length).split("/")) {
    const part = decodeKeyPart(encoded);
    if (part === undefined) return undefined;
    parts.push(part);
  }
  return parts.join("/");
}
