// The words of a text: their number, and the terms by which a question and a memory's line are compared.

import { FILLER, GERMAN, REQUEST, STOP_WORDS } from "./stop-words.ts";

/** The part of a text that is read, in UTF-16 units: a question is at its beginning. */
const MOST_CHARACTERS = 20_000;
const segmenter = new Intl.Segmenter("en", { granularity: "word" });

/** Scripts without blanks between words, or with particles attached to them. */
const RUN =
  /\p{Script=Han}+|\p{Script=Hiragana}+|[\p{Script=Katakana}\u30fc]+|\p{Script=Hangul}+/gu;
/** Between the parts of snake_case and camelCase names: "HTTPServer" has two. */
const WITHIN_NAME = /[^\p{L}\p{N}\p{M}]+|(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;
/** Accents of Latin letters: umlauts come and go with the plural. */
const ACCENTS = /(?<=\p{Script=Latin})\p{M}+/gu;
const SENTENCE_START = /(?:^|[.!?:;"“„(\n])\s*$/u;

/**
 * How much a word says about the subject, before anything is known of the memories: names most, and
 * long words more than short ones, which are more common. Found on the odd questions of dev/eval.
 */
const WEIGHT = {
  name: 1.2,
  long: 1,
  medium: 0.8,
  short: 0.5,
  request: 0.3,
  /** A word of one sign, and one of hiragana. */
  sign: 0.3,
  kana: 0.3,
};
/** In German what has no capital is no noun, and says that much less. */
const NO_NOUN = 0.6;
/** Letters of a short word, and of a medium one, at most. */
const SHORT = 4;
const MEDIUM = 6;

/** Words of a text by the rules of Unicode, so that Chinese and Japanese count right. */
export function wordCount(text: string): number {
  let count = 0;
  for (const { isWordLike } of segmenter.segment(text.slice(0, MOST_CHARACTERS))) {
    if (isWordLike) count += 1;
  }
  return count;
}

export interface Terms {
  /**
   * Words of scripts with blanks and the parts of compound names, in lower case and without accents,
   * with their weight. A whole compound name has none: its parts have.
   */
  words: Map<string, number>;
  /** Words of scripts without blanks, as the runtime's dictionary cuts them, with their weight. */
  segments: Map<string, number>;
  /** The same runs as pairs of neighbours and single signs: however they are cut. */
  pairs: Set<string>;
  /** Its words between the nouns are German: there words are compounded, and nouns have capitals. */
  isGerman: boolean;
}

/** The terms of a text's first 20,000 characters, without words that say nothing about the matter. */
export function searchTerms(text: string): Terms {
  const whole = text.slice(0, MOST_CHARACTERS).normalize("NFKC").slice(0, MOST_CHARACTERS);
  const terms: Terms = {
    words: new Map(),
    segments: new Map(),
    pairs: new Set(),
    isGerman: (whole.match(GERMAN)?.length ?? 0) > 0,
  };
  const spaced = whole.replaceAll(RUN, " ");
  for (const { segment, isWordLike, index } of segmenter.segment(spaced)) {
    if (!isWordLike) continue;
    const begins = SENTENCE_START.test(spaced.slice(Math.max(0, index - 4), index));
    for (const word of segment.split(/[^\p{L}\p{N}\p{M}_]+/u)) addName(word, begins, terms);
  }
  for (const [run] of whole.replaceAll(FILLER, " ").matchAll(RUN)) addRun(run, terms);
  return terms;
}

/** The pairs of neighbours of a run; one sign stands for itself. */
export function pairsOf(run: string): string[] {
  const signs = [...run];
  if (signs.length === 1) return signs;
  return signs.slice(1).map((sign, index) => `${signs[index]}${sign}`);
}

function addRun(run: string, { segments, pairs }: Terms): void {
  for (const piece of [...run, ...pairsOf(run)]) pairs.add(piece);
  const isKana = /^\p{Script=Hiragana}/u.test(run);
  // What the dictionary does not know it cuts into single signs: a name of two is one word.
  let signs = "";
  const flush = () => {
    if (signs !== "") segments.set(signs, [...signs].length === 1 ? WEIGHT.sign : 1);
    signs = "";
  };
  for (const { segment } of segmenter.segment(run)) {
    const isSign = [...segment].length === 1;
    if (isSign && !isKana && !STOP_WORDS.has(segment)) signs += segment;
    else flush();
    if (isSign || STOP_WORDS.has(segment)) continue;
    segments.set(segment, isKana ? WEIGHT.kana : 1);
  }
  flush();
}

function addName(name: string, begins: boolean, { words, isGerman }: Terms): void {
  const parts = name.split(WITHIN_NAME).filter((part) => part !== "");
  for (const part of parts) {
    const word = keyOf(part);
    if (word.length < 2 || STOP_WORDS.has(part.toLowerCase())) continue;
    const isName =
      /\p{Lu}/u.test(part) && (!begins || parts.length > 1 || /\p{Lu}.*\p{Lu}|\d/u.test(part));
    words.set(word, Math.max(words.get(word) ?? 0, weightOf(word, isName, isGerman)));
  }
  const joined = keyOf(parts.join(""));
  if (parts.length > 1 && !words.has(joined)) words.set(joined, 0);
}

function weightOf(word: string, isName: boolean, isGerman: boolean): number {
  if (REQUEST.has(word)) return WEIGHT.request;
  if (/^\p{N}+$/u.test(word)) return WEIGHT.long;
  if (isName) return word.length < SHORT ? WEIGHT.medium : WEIGHT.name;
  const weight =
    word.length <= SHORT ? WEIGHT.short : word.length <= MEDIUM ? WEIGHT.medium : WEIGHT.long;
  return isGerman ? weight * NO_NOUN : weight;
}

function keyOf(word: string): string {
  const bare = word.toLowerCase().normalize("NFD").replaceAll(ACCENTS, "");
  return bare.normalize("NFC").replaceAll("ß", "ss");
}
