// The token count of a text before the API has counted it. No tokenizer of a current model is public,
// so this is an upper bound by bytes; the counts that the API reports correct it.

import { byteLength } from "../text/bytes.ts";

/**
 * UTF-8 bytes of one token: on the safe side for prose, code and Chinese. Source: samples against
 * the last public tokenizer, 3.3 bytes a token for prose and 3.9 for code.
 */
export const BYTES_PER_TOKEN = 3;

/** An upper bound of the tokens of a text. */
export function textTokens(text: string): number {
  return Math.ceil(byteLength(text) / BYTES_PER_TOKEN);
}
