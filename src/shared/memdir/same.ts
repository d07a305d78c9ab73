// When two memories are the same: only where a reader would say so. To miss a repetition leaves two
// files; to see one where there is none loses what somebody said. So whatever can change a meaning
// counts: numbers, signs, negations, one-letter names, the order of words.

import { byteLength } from "../text/bytes.ts";
import { textHash } from "../text/text-hash.ts";

/** What is compared of a memory. */
export interface Said {
  description?: string | undefined;
  body: string;
}

/** Numbers that memories share which may be the same; null where nothing can be. */
export interface SameKeys {
  about: number | null;
  said: number | null;
}

/** A shorter body lives off its description ("It is on Friday."), in UTF-8 bytes. */
const LEAST_BYTES = 24;
/** Nobody repeats a longer body letter by letter, in UTF-16 units: bounds the work of each write. */
const MOST_CHARACTERS = 16_384;

/** The end of a sentence or clause after a word; within a word ("2.1", "C#") each sign counts. */
const CLAUSE_END = /(?<=[\p{L}\p{N}\p{M}\])"'`#+*])[.,;:\u3001\u3002\uff0c\uff1a\uff1b]+$/u;
/** Case does not count in a word of at least two letters and nothing else: "R" is not "r". */
const WORD = /^[\p{L}\p{M}]{2,}$/u;

/** A text as sameness sees it: blanks, ends of clauses and the case of whole words do not count. */
export function comparable(text: string): string {
  const words = text.normalize("NFC").split(/\s+/u).map(comparableWord);
  return words.filter((word) => word !== "").join(" ");
}

function comparableWord(word: string): string {
  const bare = word.replace(CLAUSE_END, "");
  return WORD.test(bare) ? bare.toLowerCase() : bare;
}

/** What a lookup goes by. Equal keys prove nothing: `sameIn` decides. */
export function sameKeys(memory: Said): SameKeys {
  const about = comparable(memory.description ?? "");
  const said = comparableBody(memory.body);
  return {
    about: about === "" ? null : textHash(about),
    said: said === undefined ? null : textHash(said),
  };
}

/** In what two memories are the same, if they are. */
export function sameIn(one: Said, other: Said): "description" | "text" | undefined {
  const about = comparable(one.description ?? "");
  if (about !== "" && about === comparable(other.description ?? "")) return "description";
  return isSameText(one.body, other.body) ? "text" : undefined;
}

/** Whether two bodies say the same in the same words, and enough to say something by themselves. */
export function isSameText(one: string, other: string): boolean {
  const said = comparableBody(one);
  return said !== undefined && said === comparableBody(other);
}

function comparableBody(body: string): string | undefined {
  if (body.length > MOST_CHARACTERS) return undefined;
  const said = comparable(body);
  return byteLength(said) < LEAST_BYTES ? undefined : said;
}
