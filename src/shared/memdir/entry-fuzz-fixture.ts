// Mutated files: never a throw, never a lost description that a person would read in the file.

import { expect, it } from "vitest";
import { type Head, parseEntry, parseHead } from "./entry.ts";

const SEED = 20_260_730;

const SEEDS = [
  "---\nname: friday-rule\ndescription: Deploy rule: never on Friday\ntype: feedback\n---\nbody\n",
  '---\nname: "quoted"\ndescription: use the `pnpm` #1 tool\ntype: user\n---\n# Title\n---\nmore\n',
  "\ufeff---\r\nname: a\r\ndescription: first line\r\n  second line\r\ntype: project\r\n---\r\nbody",
  "---\ndescription: plain words here\nmetadata:\n  type: reference\n  modified: 2026-01-02\n---\n",
  "\n---\nname: x\ndescription: [draft] *bold* &anchor\ntags: [a, {b: c}]\nother: |\n  block\n...\n",
  "---\nname: n\ndescription: 日本語 の 説明 🚀\ntype: user\n---\n- [a](b.md)\n",
];
const PIECES = [
  ..."\n\r\t :#-\"'[]{}&*!|>%@`,?\\\u0000\u00a0\u200b\ufeff\u2028\u0085\ud800🚀a0~=",
  "---",
  "\n---\n",
  "...",
  ": ",
  " #",
  "\n  ",
  "<<: *a",
  "&a ",
  "!!binary ",
  "__proto__: ",
  "description: ",
  "\ndescription: other words\n",
  "type: user\n",
  "[".repeat(60),
  "- ".repeat(20),
  "\n\n",
  "'",
  "|\n",
  ">-\n",
];

/** The test of a file: so many mutated files. */
export function findsDescriptions(files: number): void {
  it(`finds each description that a person would read, in ${files} mutated files (seed ${SEED})`, () => {
    const random = generator(SEED);
    const pick = <T>(items: readonly T[], otherwise: T): T =>
      items[Math.floor(random() * items.length)] ?? otherwise;
    let expected = 0;
    let recovered = 0;
    const started = performance.now();
    for (let count = 0; count < files; count += 1) {
      let text = pick(SEEDS, "");
      for (let left = 1 + Math.floor(random() * 6); left > 0; left -= 1) {
        text = mutate(text, random, pick(PIECES, ""));
      }
      const entry = parseEntry(text);
      const { body, ...metadata } = entry;
      const fail = (what: string) =>
        expect.fail(`${what}; seed ${SEED}, file ${count}: ${JSON.stringify(text)}`);
      if (!text.endsWith(body)) fail("the body is not from the file");
      if (/[\n\r]/.test(`${entry.name}${entry.description}`)) fail("a line break");
      if (count % 4 === 0 && text.split("\n").length <= 30 && !same(parseHead(text), metadata))
        fail("the head differs");
      const words = readable(text);
      if (words === undefined) continue;
      expected += 1;
      if (entry.diagnostic !== undefined) continue;
      recovered += 1;
      const shown = entry.description ?? "";
      if (words.some((word) => !shown.includes(word)))
        fail(`lost words, shown ${JSON.stringify(shown)}`);
    }
    console.log(
      `frontmatter fuzz, seed ${SEED}: ${files} files, ${expected} with a description to read, ${recovered} read, ${Math.round(performance.now() - started)} ms`,
    );
    expect(recovered).toBeGreaterThan(files / 4);
    expect(recovered).toBeGreaterThan(expected * 0.8);
  }, 60_000);
}

function same(one: Head, other: Head): boolean {
  const keys = ["name", "description", "type", "modified", "diagnostic"] as const;
  return keys.every((key) => one[key] === other[key]);
}

/**
 * The words of the first line `description: …` within a block that opens on the first line with
 * content and closes; undefined if there is none, or the value is quoted or a block (there the text
 * on the line is not the value).
 */
function readable(text: string): string[] | undefined {
  const lines = text
    .replace(/^\ufeff/, "")
    .split("\n")
    .map((line) => line.replace(/\r$/, ""));
  while (lines.length > 0 && /^[ \t\r]*$/.test(lines[0] ?? "")) lines.shift();
  if (!/^---[ \t]*$/.test(lines.shift() ?? "")) return undefined;
  const end = lines.findIndex((line) => /^(?:---|\.\.\.)[ \t]*$/.test(line));
  if (end === -1) return undefined;
  for (const line of lines.slice(0, end)) {
    const value = /^description: (.*)$/s.exec(line)?.[1];
    if (value === undefined) continue;
    if (/^\s*["'|>]/.test(value)) return undefined;
    const words = value.match(/[\p{L}\p{N}]+/gu);
    if (words) return words;
  }
  return undefined;
}

function mutate(text: string, random: () => number, piece: string): string {
  const at = Math.floor(random() * (text.length + 1));
  const length = Math.floor(random() * 6);
  switch (Math.floor(random() * 5)) {
    case 0:
      return text.slice(0, at) + text.slice(at + length);
    case 1:
      return text.slice(0, at) + piece + text.slice(at + length);
    case 2: {
      const lines = text.split("\n");
      const index = Math.floor(random() * lines.length);
      lines.splice(
        index,
        Math.floor(random() * 2),
        lines[Math.floor(random() * lines.length)] ?? "",
      );
      return lines.join("\n");
    }
    default:
      return text.slice(0, at) + piece + text.slice(at);
  }
}

/** Mulberry32: the same numbers for the same seed. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
