// What a background run may not save, whatever the conversation told it to: it is held to path, form
// and size. What a memory says about rights has no effect, so no wording is looked for.

import { parseEntry } from "../memdir/entry.ts";
import { INDEX_FILE } from "../memdir/entrypoint.ts";
import { POINTER_CHARACTERS, parsePointer } from "../memdir/pointer.ts";
import { MEMORY_TYPES } from "../memdir/types.ts";
import { foldConfusables } from "../safety/fold-confusables.ts";

/** A value that still is what the instructions show: "<short title>", "<user | feedback | …>". */
const PLACEHOLDER = /^\s*["']?<[^<>]*>["']?\s*$/;

/** Names that other parts read as instructions or keep for themselves, wherever they lie. */
const RESERVED =
  /^(?:memory|claude(?:\.local)?|agents(?:\.local)?|gemini|skill|copilot-instructions)\.md$/i;

/**
 * Why a background run may not write this text at a path of the directory; undefined where it may.
 * The reason says what to change. `before` is the text that stands there now.
 */
export function checkMemory(path: string, text: string, before = ""): string | undefined {
  if (path === INDEX_FILE) return checkIndex(text, before);
  const named = checkName(path);
  if (named !== undefined) return named;
  const { name, description, type, diagnostic } = parseEntry(text);
  if (diagnostic !== undefined) return `its frontmatter cannot be read: ${diagnostic}`;
  for (const [key, value] of Object.entries({ name, description })) {
    if (value === undefined) return `its frontmatter has no ${key}. Add a line "${key}: …"`;
    if (PLACEHOLDER.test(value))
      return `its ${key} is the placeholder of the instructions. Put the real ${key} there`;
  }
  if (type === undefined)
    return `its type is none of: ${MEMORY_TYPES.join(", ")}. Choose one of them`;
  return undefined;
}

function checkName(path: string): string | undefined {
  if (!path.endsWith(".md")) return "a memory is a Markdown file: choose a name that ends in .md";
  // As people and tools read it: a letter that only looks Latin is taken for what it looks like.
  const parts = foldConfusables(path).split("/");
  const file = parts.at(-1) ?? "";
  if (parts.some((part) => part.startsWith("."))) {
    return "a name that begins with a dot is not for memories. Choose another one";
  }
  if (parts.some((part) => RESERVED.test(part))) {
    return `${file} is not the name of a memory. Name the file after its subject`;
  }
  if (/^(?:<.*>|readable_name|file|name|untitled)\.md$/i.test(file)) {
    return "its file name is the placeholder of the instructions. Name the file after its subject";
  }
  return undefined;
}

/**
 * A background run adds and changes pointer lines. Whatever else stands in the index is a person's or
 * the agent's: it stays, and no prose is added to it, since every later prompt shows it.
 */
function checkIndex(text: string, before: string): string | undefined {
  const old = linesOf(before);
  const now = linesOf(text);
  const known = new Set(old.map(({ line }) => line));
  for (const { line, path } of now) {
    if (known.has(line)) continue;
    if (path === undefined) {
      return 'a line that is added to the index points to a memory: "- [Title](file.md) - hook". Put anything else into a memory';
    }
    if (line.length >= POINTER_CHARACTERS) {
      return `a line of the index has fewer than ${POINTER_CHARACTERS} characters, and one has ${line.length}. Shorten its hook`;
    }
  }
  const prose = (lines: typeof old) =>
    lines.filter(({ path }) => path === undefined).map(({ line }) => line);
  if (prose(old).join("\n") !== prose(now).join("\n")) {
    return "the lines of the index that point to no memory are not as they were. Leave them as they are and where they are";
  }
  const pointed = new Set(now.map(({ path }) => path));
  const lost = old.find(({ path }) => !pointed.has(path));
  if (lost === undefined) return undefined;
  return `its line for ${lost.path} is missing. A background run takes no line away`;
}

/** The lines that say something, and the memory that each points to. */
function linesOf(text: string): { line: string; path: string | undefined }[] {
  return text.split("\n").flatMap((each) => {
    const line = each.trim();
    return line === "" ? [] : [{ line, path: parsePointer(line)?.path }];
  });
}
