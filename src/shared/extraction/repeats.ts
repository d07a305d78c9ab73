// Whether a background run would save a second time what is saved already. What was recalled is in the
// conversation that it looks at, and a model takes it for news.

import { parseEntry } from "../memdir/entry.ts";
import type { Entry } from "../thread/entry.ts";

export interface Known {
  memories: readonly { path: string; description: string | undefined }[];
  /** Texts of memories that the conversation was shown. */
  recalled: readonly string[];
}

/** A shorter text may be part of another by chance, in characters. */
const LEAST_CHARACTERS = 12;

/** Why a new memory is none: its description or its body is known. Undefined for one that is new. */
export function repeats(text: string, { memories, recalled }: Known): string | undefined {
  const { description, body } = parseEntry(text);
  const said = same(description ?? "");
  const memory = memories.find((each) => said !== "" && same(each.description ?? "") === said);
  if (memory)
    return `${memory.path} says this already. Read and Edit it if something is new, else leave it`;
  const told = same(body);
  const shown =
    told.length >= LEAST_CHARACTERS && recalled.some((each) => same(each).includes(told));
  return shown
    ? "it repeats a memory that was recalled in this conversation. It is saved already: leave it"
    : undefined;
}

/** The texts of memories that the conversation was shown. */
export function recalledIn(entries: readonly Entry[]): string[] {
  return entries.flatMap(({ origin, message }) => {
    const [block] = message.content;
    if (origin.type !== "recall" || block?.type !== "text") return [];
    return origin.memories.map(({ start, end }) => block.text.slice(start, end));
  });
}

function same(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[\s\p{P}]+/gu, " ")
    .trim();
}
