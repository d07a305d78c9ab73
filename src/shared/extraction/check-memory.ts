// What a background run may save, whatever the conversation says: its path, form and size are checked.
// A memory that mentions rights has no effect on rights, so no wording is forbidden.

import { parseEntry } from "../memdir/entry.ts";
import { INDEX_FILE } from "../memdir/entrypoint.ts";
import { POINTER_CHARACTERS, parsePointer } from "../memdir/pointer.ts";
import { MEMORY_TYPES } from "../memdir/types.ts";
import { foldConfusables } from "../safety/fold-confusables.ts";

/** A value copied from the instructions: "<short title>", "<user | feedback | …>". */
const PLACEHOLDER = /^\s*["']?<[^<>]*>["']?\s*$/;

/** Names that other tools read as instructions or reserve, in any folder. */
const RESERVED =
  /^(?:memory|claude(?:\.local)?|agents(?:\.local)?|gemini|skill|copilot-instructions)\.md$/i;

/**
 * Why a background run may not write this text at a path of the directory; undefined if it may. The
 * reason says what to change. `before`: the present text of the file.
 */
export function checkMemory(path: string, text: string, before = ""): string | undefined {
  if (path === INDEX_FILE) return checkIndex(text, before);
  const badName = checkName(path);
  if (badName !== undefined) return badName;
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
  // A letter that only looks Latin counts as the letter that people see.
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
 * A background run adds and changes pointer lines. Everything else in the index belongs to a person or
 * the agent: it stays, and no prose is added, since every later prompt shows the index.
 */
function checkIndex(text: string, before: string): string | undefined {
  const old = linesOf(before);
  const current = linesOf(text);
  const known = new Set(old.map(({ line }) => line));
  for (const { line, path } of current) {
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
  if (prose(old).join("\n") !== prose(current).join("\n")) {
    return "the lines of the index that point to no memory are not as they were. Leave them as they are and where they are";
  }
  const pointed = new Set(current.map(({ path }) => path));
  const lost = old.find(({ path }) => !pointed.has(path));
  if (lost === undefined) return undefined;
  return `its line for ${lost.path} is missing. A background run takes no line away`;
}

/** The lines that are not blank, each with the memory that it points to. */
function linesOf(text: string): { line: string; path: string | undefined }[] {
  return text.split("\n").flatMap((each) => {
    const line = each.trim();
    return line === "" ? [] : [{ line, path: parsePointer(line)?.path }];
  });
}
