// How good a choice of memories was.

import type { Question } from "./set.ts";

export interface Chosen {
  question: Question;
  /** Paths that were offered, at most five. */
  chosen: readonly string[];
}

/** Shares from 0 to 1; undefined where there is nothing to divide by. */
export interface ChoiceFigures {
  questions: number;
  /** recall@5: of what should be offered, the share that was; each question counts the same. */
  recall: number | undefined;
  /** Of all that was offered, whatever was asked, the share that should be. */
  precision: number | undefined;
  /** Of the questions for which nothing fits, the share that got nothing. */
  nothing: number | undefined;
}

/** Questions beside the main set: what words cannot find, and what words cannot refuse. */
export const BESIDE: ReadonlySet<string> = new Set(["unlike", "nothing-near"]);

export function choiceFigures(all: readonly Chosen[]): ChoiceFigures {
  const fitting = all.filter(({ question }) => question.want.length > 0);
  const nothing = all.filter(({ question }) => question.want.length === 0);
  const offered = sum(all.map(({ chosen }) => chosen.length));
  return {
    questions: all.length,
    recall: share(sum(fitting.map((one) => hits(one) / one.question.want.length)), fitting.length),
    precision: share(sum(all.map(hits)), offered),
    nothing: share(nothing.filter(({ chosen }) => chosen.length === 0).length, nothing.length),
  };
}

/** The rows of the table: all, both halves, each kind, each language. */
export function choiceRows(all: readonly Chosen[]): [string, ChoiceFigures][] {
  const main = all.filter(({ question }) => !BESIDE.has(question.kind));
  // By the place in the file, so that a half holds the same questions whatever is beside.
  const half = (rest: number) =>
    all.filter(({ question }, at) => at % 2 === rest && !BESIDE.has(question.kind));
  const kinds = [...new Set(all.map(({ question }) => question.kind))];
  const languages = [...new Set(all.map(({ question }) => question.language))];
  const row = (name: string, of: readonly Chosen[]): [string, ChoiceFigures] => [
    name,
    choiceFigures(of),
  ];
  return [
    row("main set", main),
    row("  odd half", half(0)),
    row("  even half", half(1)),
    ...languages.map((language) =>
      row(
        `  ${language}`,
        main.filter(({ question }) => question.language === language),
      ),
    ),
    ...kinds.map((kind) =>
      row(
        `  ${BESIDE.has(kind) ? "beside: " : ""}${kind}`,
        all.filter(({ question }) => question.kind === kind),
      ),
    ),
    ...(main.length < all.length ? [row("with what is beside", all)] : []),
  ];
}

export function printChoice(title: string, all: readonly Chosen[]): void {
  console.log(`\n${title}`);
  console.log(`  ${"".padEnd(24)} questions  recall@5  precision  nothing`);
  for (const [name, { questions, recall, precision, nothing }] of choiceRows(all)) {
    const cells = [recall, precision, nothing].map(asText);
    const [a = "", b = "", c = ""] = cells;
    console.log(
      `  ${name.padEnd(24)} ${String(questions).padStart(9)} ${a.padStart(9)} ${b.padStart(10)} ${c.padStart(8)}`,
    );
  }
}

export function asText(value: number | undefined): string {
  return value === undefined ? "-" : value.toFixed(3);
}

function hits({ question, chosen }: Chosen): number {
  return question.want.filter((path) => chosen.includes(path)).length;
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}

function share(part: number, whole: number): number | undefined {
  return whole === 0 ? undefined : part / whole;
}
