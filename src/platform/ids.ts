const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const LENGTH = 24;

type IdPrefix = "sesn" | "sevt" | "memstore" | "mem" | "memver" | "drm";

/** A new id such as `sesn_7Kq…`: 24 characters of base 58, about 140 bits. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${random(LENGTH)}`;
}

function random(length: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(length * 2));
  let text = "";
  for (const byte of bytes) {
    // 232 is the largest multiple of 58 in a byte: larger bytes would favour some characters.
    if (byte < 232 && text.length < length) text += ALPHABET[byte % ALPHABET.length];
  }
  return text.length === length ? text : random(length);
}

/** Characters of the number in a numbered id: up to 58^8. */
const NUMBER_LENGTH = 8;

/**
 * A new id that tells where its row is, so that no index has to: a number from 0 on in 8 characters,
 * then 16 of chance, about 94 bits.
 */
export function numberedId(prefix: IdPrefix, number: number): string {
  let digits = "";
  for (let rest = number; digits.length < NUMBER_LENGTH; rest = Math.floor(rest / 58)) {
    digits = (ALPHABET[rest % 58] ?? "") + digits;
  }
  return `${prefix}_${digits}${random(LENGTH - NUMBER_LENGTH)}`;
}

/** The number in an id that `numberedId` made; undefined for what has not the form of one. */
export function numberOfId(prefix: IdPrefix, id: string): number | undefined {
  if (!isId(prefix, id)) return undefined;
  const digits = id.slice(prefix.length + 1, prefix.length + 1 + NUMBER_LENGTH);
  return [...digits].reduce((sum, digit) => sum * 58 + ALPHABET.indexOf(digit), 0);
}

/** Whether a text has the form of an id of this kind; anything else need not be looked up. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return new RegExp(`^${prefix}_[1-9A-HJ-NP-Za-km-z]{24}$`).test(text);
}

/** An id derived from a text: 24 characters of its SHA-256, the same for the same text. */
export async function derivedId(prefix: IdPrefix, text: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  let value = new Uint8Array(hash).reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  let id = "";
  for (let n = 0; n < LENGTH; n += 1) {
    id += ALPHABET[Number(value % 58n)];
    value /= 58n;
  }
  return `${prefix}_${id}`;
}
