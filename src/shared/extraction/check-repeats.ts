// Whether a background run would save again what was recalled in the conversation that it looks at: a
// model may take that for news. What is saved by the same description or text, the store itself knows.

import { parseEntry } from "../memdir/entry.ts";
import { isSameText } from "../memdir/same.ts";
import type { Entry } from "../thread/entry.ts";

export interface Recalled {
  /** Absolute, as the conversation names it. */
  path: string;
  text: string;
}

/** Why a new memory must not be saved: its text was recalled. Undefined if it is new. */
export function checkRepeats(text: string, recalled: readonly Recalled[]): string | undefined {
  const { body } = parseEntry(text);
  const known = recalled.find((each) => isSameText(parseEntry(each.text).body, body));
  if (known === undefined) return undefined;
  return `it repeats ${known.path}, which was recalled in this conversation and is saved already. Edit that file where something is new, else leave it`;
}

/** The texts of the memories that were recalled in these entries. */
export function recalledIn(entries: readonly Entry[]): Recalled[] {
  return entries.flatMap(({ origin, message }) => {
    const [block] = message.content;
    if (origin.type !== "recall" || block?.type !== "text") return [];
    return origin.memories.map(({ path, start, end }) => ({
      path,
      text: block.text.slice(start, end),
    }));
  });
}
