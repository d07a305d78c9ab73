import { RECALL_FILES } from "../../src/shared/limits/recall.ts";
import { linesOf, selectFrom } from "../../src/shared/recall/by-words.ts";
import type { Candidate } from "../../src/shared/recall/list.ts";
import type { Chosen } from "./choice-figures.ts";
import type { Question } from "./set.ts";

export function chooseByWords(
  questions: readonly Question[],
  memories: readonly Candidate[],
): Chosen[] {
  const lines = linesOf(memories);
  return questions.map((question) => ({
    question,
    chosen: selectFrom(question.question, lines, RECALL_FILES),
  }));
}
