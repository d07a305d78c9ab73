// The choice of memories by the words of the message, for when the small model does not choose.

import { RECALL_FILES, RECALL_QUERY_CHARACTERS } from "../limits/recall.ts";
import { cutCharacters } from "../text/bytes.ts";
import { type Candidate, DESCRIPTION_CHARACTERS } from "./list.ts";
import { sameness } from "./same-word.ts";
import { pairsOf, searchTerms, type Terms } from "./words.ts";

/**
 * The part of the message's weight that a memory must match: one word in common is chance when the
 * rest of the question is about something else. Found on the questions of dev/eval.
 */
const FLOOR = 0.27;
/**
 * The part of the best memory's score that the others must reach, unless they match words that those
 * do not have: a message may have two subjects.
 */
const BESIDE_BEST = 0.5;
/** The file's path and the memory's name say what it is about; the description, what it says of it. */
const TITLE = 1.25;
/** A message weighs no more than so many unknown words: a long one has more than its question. */
const MOST_WEIGHT = 5;
/** Words that are looked for: each is compared with all words of two hundred lines. */
const MOST_WORDS = 150;
/** Numbers of one or two digits are everywhere: they say something only where nothing has them. */
const SMALL_NUMBER = /^\p{N}{1,2}$/u;

/** A word of the message: its weight among these memories, and how far each has it (0 to `TITLE`). */
interface Match {
  weight: number;
  degrees: number[];
}

/** A candidate, cut into terms: what costs the most. */
export interface Line {
  candidate: Candidate;
  title: Terms;
  about: Terms;
}

/**
 * The candidates that the message is about as far as its words tell, best first, at most `most`; none
 * where none matches enough of it. A word weighs more the fewer candidates have it; between equal
 * scores the newer comes first, then the path decides.
 */
export function selectByWords(
  message: string,
  candidates: readonly Candidate[],
  most: number = RECALL_FILES,
): string[] {
  return selectFrom(message, linesOf(candidates), most);
}

/** The lines of the candidates, for any number of messages. */
export function linesOf(candidates: readonly Candidate[]): Line[] {
  return candidates.map((candidate) => {
    const { path, name = "", description = "" } = candidate;
    const cut = (text: string) => cutCharacters(text, DESCRIPTION_CHARACTERS);
    return {
      candidate,
      title: searchTerms(`${path.replace(/\.md$/, "")} \n${cut(name)}`),
      about: searchTerms(cut(description)),
    };
  });
}

/** `selectByWords` of lines that were made before. */
export function selectFrom(message: string, lines: readonly Line[], most: number): string[] {
  const asked = searchTerms(cutCharacters(message.trim(), RECALL_QUERY_CHARACTERS));
  const matches = matchesOf(asked, lines);
  const all = matches.reduce((sum, { weight }) => sum + weight, 0);
  const floor = FLOOR * Math.min(all, MOST_WEIGHT * Math.log(1 + lines.length));
  const scoreOf = (of: readonly Match[], at: number) =>
    of.reduce((sum, { weight, degrees }) => sum + weight * (degrees[at] ?? 0), 0);
  const scored = lines.map(({ candidate }, at) => ({ candidate, at, score: scoreOf(matches, at) }));
  const best = Math.max(0, ...scored.map(({ score }) => score));
  const leading = scored.filter(({ score }) => score >= best * BESIDE_BEST);
  const unsaid = matches.filter(({ degrees }) => leading.every(({ at }) => !degrees[at]));
  return scored
    .filter(({ score }) => score > 0 && score >= floor)
    .filter((each) => leading.includes(each) || scoreOf(unsaid, each.at) >= floor)
    .sort((a, b) => b.score - a.score || newerFirst(a.candidate, b.candidate))
    .slice(0, most)
    .map(({ candidate }) => candidate.path);
}

function matchesOf(asked: Terms, lines: readonly Line[]): Match[] {
  const weighted = (own: number, degreeOf: (terms: Terms) => number): Match => {
    const degrees = degreesIn(lines, degreeOf);
    const having = degrees.reduce((sum, degree) => sum + Math.min(1, degree), 0);
    return { weight: own * Math.log(1 + lines.length / Math.max(1, having)), degrees };
  };
  const words = [...asked.words]
    .slice(0, MOST_WORDS)
    .map(([word, weight]) =>
      weighted(weight, SMALL_NUMBER.test(word) ? () => 0 : bestWord(word, asked.isGerman)),
    );
  const segments = [...asked.segments].slice(0, MOST_WORDS).map(([segment, weight]) => {
    const pairs = pairsOf(segment);
    const found = (own: Terms) => pairs.filter((pair) => own.pairs.has(pair)).length;
    return weighted(weight, (own) => found(own) / pairs.length);
  });
  return [...words, ...segments];
}

function degreesIn(lines: readonly Line[], degreeOf: (terms: Terms) => number): number[] {
  return lines.map(({ title, about }) => Math.max(TITLE * degreeOf(title), degreeOf(about)));
}

/** Two hundred memories have many words in common: each pair is compared once. */
function bestWord(word: string, compounds: boolean): (terms: Terms) => number {
  const compared = new Map<string, number>();
  return ({ words }) => {
    let best = 0;
    for (const other of words.keys()) {
      let degree = compared.get(other);
      if (degree === undefined) {
        degree = sameness(word, other, compounds);
        compared.set(other, degree);
      }
      if (degree > best) best = degree;
    }
    return best;
  };
}

function newerFirst(a: Candidate, b: Candidate): number {
  return (b.updatedAt || 0) - (a.updatedAt || 0) || (a.path < b.path ? -1 : 1);
}
