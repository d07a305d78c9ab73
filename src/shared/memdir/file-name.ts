import { MemdirError } from "../errors.ts";
import { PATH_SEGMENT_BYTES } from "../limits/files.ts";
import { byteLength } from "../text/bytes.ts";

/** What stays of a title, in characters: enough to be told apart by a reader. */
const NAME_CHARACTERS = 60;
/** Room for a suffix and ".md", in bytes. */
const SUFFIX_BYTES = 16;
/** Files with one title before something is wrong with the caller. */
const SUFFIX_MOST = 9999;
/** The index on a disk that ignores case, and what Windows refuses. */
const RESERVED = /^(?:memory|con|prn|aux|nul|com\d|lpt\d)$/;

/**
 * A file name for a memory: readable, in any script, one path segment, never hidden and never the
 * index. `taken` is asked with a whole name; if it is, "_2", "_3" and so on follow. Throws `conflict`
 * when all of them are taken.
 */
export function memoryFileName(title: string, taken: (name: string) => boolean): string {
  const base = readable(title);
  const first = RESERVED.test(base) ? `${base}_1` : base;
  if (!taken(`${first}.md`)) return `${first}.md`;
  for (let count = 2; count <= SUFFIX_MOST; count += 1) {
    const name = `${base}_${count}.md`;
    if (!taken(name)) return name;
  }
  throw new MemdirError(
    "conflict",
    `Cannot name a memory: "${base}.md" and ${SUFFIX_MOST - 1} names after it are taken. Choose another title`,
  );
}

function readable(title: string): string {
  const words = title
    .toWellFormed()
    .normalize("NFKC")
    .toLowerCase()
    // Fillers count as letters and still show nothing.
    .replaceAll(/\p{DI}/gu, "")
    .normalize("NFC")
    .replaceAll(/[^\p{L}\p{N}\p{M}]+/gu, "_");
  let name = "";
  let count = 0;
  for (const character of words.replace(/^[_\p{M}]+/u, "")) {
    const longer = name + character;
    if (count === NAME_CHARACTERS || tooLong(longer)) break;
    name = longer;
    count += 1;
  }
  name = name.replace(/_+$/, "");
  return name === "" ? "note" : name;
}

function tooLong(name: string): boolean {
  return byteLength(name) > PATH_SEGMENT_BYTES - SUFFIX_BYTES;
}
