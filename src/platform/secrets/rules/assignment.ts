import { type Found, patternRule } from "./pattern-rule.ts";

/** Words that announce a secret, after any prefix ("GITHUB_", "db"). */
const KEYWORD =
  "pass(?:word|wd|phrase|code)|pwd|secret|token|credentials?|api[-_ ]?key|(?:access|auth|account|encryption|signing|private|secret|service|shared|master)[-_ ]?key|authorization|bearer";

/** The end of the word's quotes or emphasis, then the sign, then the head of a YAML block. */
const SIGN = "[\\]\"'`*_\\\\)]{0,4}[ \\t]{0,8}(?::=|=>|==?|[:|]|\\bis\\b)[ \\t]{0,8}";
const BLOCK = "(?:[|>][-+0-9]{0,2}[ \\t]{0,8})?(?:\\r?\\n[ \\t]{1,16})?";
const OPEN = "[\"'`*\\\\]{0,6}(?:(?:Bearer|Basic|Token)[ ]{1,4})?";

/** The value. ":" ends it, so references such as "op://…" and "arn:…" are too short to match. */
const VALUE = "([A-Za-z0-9_+/=.~!@#$%^&*?-]{12,256})";

const ASSIGNED = new RegExp(`(?:${KEYWORD})${SIGN}${BLOCK}${OPEN}${VALUE}`, "gi");
const BEARER = /\bbearer[ ]{1,4}([A-Za-z0-9_+/=.~-]{20,256})/gi;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A random value after a word that announces it: `password: …`, `"apiKey": "…"`, `?token=…`. */
export const ASSIGNMENT = patternRule("assignment", find);

function* find(text: string): Generator<Found> {
  for (const expression of [ASSIGNED, BEARER]) {
    for (const match of text.matchAll(expression)) {
      const value = match[1] ?? "";
      if (!UUID.test(value) && isRandom(value)) yield { index: match.index, value };
    }
  }
}

/**
 * Letters and digits in disorder: 16 characters or more at 3 bits each or more (32 hex digits have
 * about 3.6, English words 3 but no digits), or a shorter password of three kinds of characters.
 */
function isRandom(value: string): boolean {
  if (!/[0-9]/.test(value) || !/[A-Za-z]/.test(value)) return false;
  if (value.length >= 16) return bitsPerCharacter(value) >= 3;
  const kinds = [/[a-z]/, /[A-Z]/, /[^A-Za-z0-9]/].filter((kind) => kind.test(value)).length;
  return kinds >= 2 && bitsPerCharacter(value) >= 3;
}

function bitsPerCharacter(value: string): number {
  const counts = new Map<string, number>();
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) {
    bits -= (count / value.length) * Math.log2(count / value.length);
  }
  return bits;
}
