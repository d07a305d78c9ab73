import { type Entry, parseEntry } from "../../../src/shared/memdir/entry.ts";

const decoder = new TextDecoder();
/** A save asks for the same bytes several times, and nobody changes them. */
const known = new WeakMap<Uint8Array, Entry>();

/** What the frontmatter of a memory says, read once. */
export function entryOf(bytes: Uint8Array): Entry {
  const entry = known.get(bytes) ?? parseEntry(decoder.decode(bytes));
  known.set(bytes, entry);
  return entry;
}
