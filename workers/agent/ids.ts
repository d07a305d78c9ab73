const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const LENGTH = 24;

/** A new id such as `sesn_7Kq…`: 24 characters of base 58, about 140 bits. */
export function newId(prefix: "sesn" | "sevt"): string {
  const bytes = crypto.getRandomValues(new Uint8Array(LENGTH * 2));
  let text = "";
  for (const byte of bytes) {
    // 232 is the largest multiple of 58 in a byte: above it the choice would not be even.
    if (byte < 232 && text.length < LENGTH) text += ALPHABET[byte % ALPHABET.length];
  }
  return text.length === LENGTH ? `${prefix}_${text}` : newId(prefix);
}

/** Whether a text can be an id of this kind at all; anything else is not looked up. */
export function isId(prefix: "sesn" | "sevt", text: string): boolean {
  return new RegExp(`^${prefix}_[1-9A-HJ-NP-Za-km-z]{24}$`).test(text);
}
