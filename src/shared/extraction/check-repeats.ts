// Whether a background run would save again what is saved already. Recalled memories are part of the
// conversation that it looks at, and a model may take them for news.

import { parseEntry } from "../memdir/entry.ts";
import type { Entry } from "../thread/entry.ts";

export interface Known {
  memories: readonly { path: string; description: string | undefined }[];
  /** Texts of the memories that were recalled in the conversation. */
  recalled: readonly string[];
}

/** A shorter text may be part of another one by chance, in characters. */
const LEAST_CHARACTERS = 12;

/** Why a new memory must not be saved: its description or body is known. Undefined if it is new. */
export function checkRepeats(text: string, { memories, recalled }: Known): string | undefined {
  const { description, body } = parseEntry(text);
  const about = normalised(description ?? "");
  const memory = memories.find(
    (each) => about !== "" && normalised(each.description ?? "") === about,
  );
  if (memory)
    return `${memory.path} says this already. Read and Edit it if something is new, else leave it`;
  const content = normalised(body);
  const shown =
    content.length >= LEAST_CHARACTERS &&
    recalled.some((each) => normalised(each).includes(content));
  return shown
    ? "it repeats a memory that was recalled in this conversation. It is saved already: leave it"
    : undefined;
}

/** The texts of the memories that were recalled in these entries. */
export function recalledIn(entries: readonly Entry[]): string[] {
  return entries.flatMap(({ origin, message }) => {
    const [block] = message.content;
    if (origin.type !== "recall" || block?.type !== "text") return [];
    return origin.memories.map(({ start, end }) => block.text.slice(start, end));
  });
}

function normalised(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[\s\p{P}]+/gu, " ")
    .trim();
}
