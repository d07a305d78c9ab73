import { type Found, patternRule } from "./pattern-rule.ts";

const BEGIN = /-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----/g;

/** How much of a key is read, in characters: the first lines distinguish a key from an example. */
const BODY = 4000;

/** One line of a key: PEM has 64 characters a line, OpenSSH 70, PGP 64; the last may be short. */
const KEY_LINE = /[A-Za-z0-9+/=]{32,}/g;

/**
 * Private keys as PEM, OpenSSH or PGP, also indented, quoted, with CRLF, with headers, with "\n"
 * written out, or cut before their end. A marker without a key, as in docs, is none.
 */
export const PRIVATE_KEY = patternRule("privatekey", find);

function* find(text: string): Generator<Found> {
  for (const match of text.matchAll(BEGIN)) {
    const start = match.index + match[0].length;
    // The next marker ends the body, so that no character is read for two keys.
    const body = (text.slice(start, start + BODY).split("-----", 1)[0] ?? "").match(KEY_LINE);
    if (body !== null) yield { index: match.index, value: body.join("") };
  }
}
