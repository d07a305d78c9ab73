// A project's name among the memory directories. Two different roots never share one: the readable
// part is for people, the hash after it tells roots apart.

const READABLE_CHARACTERS = 48;
/** 24 characters of base 32: 120 bits of SHA-256. */
const HASH_CHARACTERS = 24;
const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";

/**
 * The slug of a canonical project root ("/workspace/app"): letters, digits and hyphens, at most 73
 * characters, the same for the same root for ever. The root's case and normal form count, so it must
 * be canonical already.
 */
export async function projectSlug(root: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(root));
  const readable = root
    .normalize("NFKD")
    .replaceAll(/[^A-Za-z0-9]+/g, "-")
    .slice(-READABLE_CHARACTERS)
    .replaceAll(/^-+|-+$/g, "")
    .toLowerCase();
  return `${readable === "" ? "project" : readable}-${base32(new Uint8Array(hash))}`;
}

function base32(bytes: Uint8Array): string {
  let text = "";
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = ((value & 0x1f) << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += BASE32[(value >> bits) & 0x1f];
    }
  }
  return text.slice(0, HASH_CHARACTERS);
}
