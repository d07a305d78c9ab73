import type { ScriptStep } from "../script.ts";
import { type ListedMemory, listedMemory } from "./memory-index.ts";
import type { View } from "./view.ts";
import { keywords, overlap } from "./words.ts";

const MAX_SELECTED = 5;

/** Chooses the listed files that share words with the query: most first, none where none does. */
export function selectMemories(view: View): ScriptStep {
  const lines = view.prompt.split("\n");
  const listed = lines.flatMap((line) => listedMemory(line) ?? []);
  const asked = keywords(queryIn(view.prompt, lines));
  const selected = listed
    .map((memory) => ({ memory, score: overlap(asked, wordsOf(memory)) }))
    .filter(({ score }) => score > 0)
    .sort((left, right) => right.score - left.score)
    .slice(0, MAX_SELECTED)
    .map(({ memory }) => memory.file);
  return { text: JSON.stringify({ selected_memories: selected, worth_keeping: true }) };
}

function wordsOf({ file, description }: ListedMemory): Set<string> {
  return keywords(`${file.replace(/\.md$/, "")} ${description}`);
}

// Takes a marked query at its word; else everything is query that is neither list nor heading.
function queryIn(prompt: string, lines: string[]): string {
  const marked =
    /<query>([\s\S]*?)<\/query>/.exec(prompt)?.[1] ??
    /^Query:([\s\S]*?)(?:\n\n|$)/im.exec(prompt)?.[1];
  if (marked !== undefined) return marked;
  return lines
    .filter(
      (line) => !listedMemory(line) && !/:\s*$|^(recently|available|tools|memories)\b/i.test(line),
    )
    .join("\n");
}
