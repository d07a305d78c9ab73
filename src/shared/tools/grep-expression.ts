import { RE2JS } from "re2js";
import {
  GREP_LINE_CHARACTERS,
  PATTERN_CHARACTERS,
  PATTERN_PROGRAM,
  PATTERN_SLICE_STEPS,
} from "../limits/tools.ts";

export type Expression =
  | {
      status: "compiled";
      /** Whether a line matches; `line` has at most `characters`. */
      matches(line: string): boolean;
      /** The first UTF-16 units of a line that are searched. */
      characters: number;
      /** Steps for each of them. */
      steps: number;
    }
  | { status: "refused"; message: string };

/** Steps per character of a search for plain text, splitting into lines included. */
const LITERAL_STEPS = 0.05;
/** Characters that a Unicode class counts as: it has hundreds of ranges, and each is compiled. */
const UNICODE_CLASS = 30;
/** Factor of its repetitions and of the steps of its program. */
const UNICODE_FACTOR = 3;

/** Compiles an RE2 pattern. Limits its text before that and its program after it. */
export function compileExpression(pattern: string, ignoreCase: boolean): Expression {
  if (pattern.length > PATTERN_CHARACTERS) {
    return refuse(`pattern has ${pattern.length} characters, the limit is ${PATTERN_CHARACTERS}`);
  }
  const literal = ignoreCase ? undefined : literalOf(pattern);
  if (literal !== undefined) {
    const matches = (line: string) => line.includes(literal);
    return {
      status: "compiled",
      matches,
      characters: Number.POSITIVE_INFINITY,
      steps: LITERAL_STEPS,
    };
  }
  if (sizeAtMost(pattern) > PATTERN_PROGRAM) return tooLarge();
  try {
    const compiled = RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
    const size = compiled.programSize();
    if (size > PATTERN_PROGRAM) return tooLarge();
    const steps = size * (unicodeClasses(pattern) > 0 ? UNICODE_FACTOR : 1);
    const characters = Math.min(GREP_LINE_CHARACTERS, Math.floor(PATTERN_SLICE_STEPS / steps));
    return { status: "compiled", matches: (line) => compiled.test(line), characters, steps };
  } catch (error) {
    const reason = error instanceof Error ? error.message : "it is no regular expression";
    return { status: "refused", message: `Cannot search for "${pattern}" (RE2 syntax): ${reason}` };
  }
}

/** The plain text of a pattern without operators; such a search is cheap. */
function literalOf(pattern: string): string | undefined {
  if (!/^(?:[^\\.*+?()[\]{}|^$]|\\[!-/:-@[-`{-~])+$/su.test(pattern)) return undefined;
  return pattern.replaceAll(/\\(.)/gsu, "$1");
}

/**
 * An upper bound of the program size from the text alone: counts after a group may multiply all the
 * rest, counts after one character only add to it.
 */
function sizeAtMost(pattern: string): number {
  const classes = unicodeClasses(pattern);
  const factor = classes > 0 ? UNICODE_FACTOR : 1;
  let sum = pattern.length + UNICODE_CLASS * classes;
  let product = 1;
  for (const match of pattern.matchAll(/(.?)\{(\d+)(?:,(\d*))?\}/gsu)) {
    const count = Math.max(Number(match[2]), Number(match[3] ?? 0), 1);
    if (match[1] === ")" || match[1] === "}" || match[1] === "") product *= count;
    else sum += count * factor;
  }
  return sum * product;
}

function unicodeClasses(pattern: string): number {
  return pattern.match(/\\[pP]/g)?.length ?? 0;
}

function tooLarge(): Expression {
  return refuse(
    `pattern is too large: with its repetitions it is more than ${PATTERN_PROGRAM} steps long. Use smaller counts, or * and +`,
  );
}

function refuse(reason: string): Expression {
  return { status: "refused", message: `Cannot search: ${reason}` };
}
