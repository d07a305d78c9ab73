// A memory file: frontmatter and body. There are no schema versions; whatever is wrong with a file,
// it degrades to what can still be read, and never spoils a scan.

import {
  FRONTMATTER_CHARACTERS,
  type Frontmatter,
  findFrontmatter,
  isStub,
  textStart,
} from "../text/frontmatter.ts";
import { type Field, readFields } from "../text/frontmatter-fields.ts";
import { type MemoryType, memoryType } from "./types.ts";

/** What the frontmatter says. */
export interface Head {
  /** On one line. */
  name?: string | undefined;
  /** On one line. */
  description?: string | undefined;
  type?: MemoryType | undefined;
  /** Its last change by its own word, in epoch milliseconds; whether that is past is for the caller. */
  modified?: number | undefined;
  /** The path of the memory that this one is the new name and text of, as somebody wrote it. */
  replaces?: string | undefined;
  /** Why something that stands in the file is missing here. */
  diagnostic?: string | undefined;
}

export interface Entry extends Head {
  /** What follows the frontmatter; the whole text, without its byte order mark, if there is none. */
  body: string;
}

/** Lines of a file that a scan reads. */
const HEAD_LINES = 30;

const WITHIN_LIMIT = `in its first ${FRONTMATTER_CHARACTERS} characters`;
const LOOKS_LIKE_FIELDS = /^[ \t]*(?:name|description|type)[ \t]*:/im;
const ISO_TIME =
  /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?) ?(Z|z|[+-]\d{2}:?\d{2})?)?$/;

/**
 * Reads a memory file; never throws.
 *
 * Values are what a person reads: nothing becomes a number, a date or a boolean, ` #` in an unquoted
 * name or description is text, lists and maps stay as somebody wrote them. Of two equal keys the
 * first with a value counts; a key at the top level counts before the same one under `metadata`.
 * Frontmatter that cannot be read is body, and the diagnostic says so. A block without any value gives
 * way to one right below it.
 */
export function parseEntry(text: string): Entry {
  return read(text, WITHIN_LIMIT);
}

/**
 * The same from the first lines alone, as a scan reads them. If the block does not end within them,
 * there is a diagnostic and no metadata; nobody may rewrite a file from that.
 */
export function parseHead(text: string, lines: number = HEAD_LINES): Head {
  let end = 0;
  for (let count = 0; count < lines && end < text.length; count += 1) {
    const feed = text.indexOf("\n", end);
    end = feed === -1 ? text.length : feed + 1;
  }
  const where = end < text.length ? `in its first ${lines} lines` : WITHIN_LIMIT;
  const { body: _body, ...head } = read(text.slice(0, end), where);
  return head;
}

function read(text: string, where: string): Entry {
  const found = pastStubs(text, findFrontmatter(text));
  const body = text.slice(textStart(text));
  if (found.status === "none") return { body };
  const meant = LOOKS_LIKE_FIELDS.test(found.block);
  if (found.status === "open") {
    const diagnostic = `The frontmatter is not closed by a line "---" ${where}; it counts as text`;
    return meant ? { body, diagnostic } : { body };
  }
  if (found.block.length > FRONTMATTER_CHARACTERS) {
    const diagnostic = `The frontmatter has ${found.block.length} characters, the limit is ${FRONTMATTER_CHARACTERS}; it counts as text`;
    return { body, diagnostic };
  }
  const fields = readFields(found.block);
  if (fields === undefined) {
    const diagnostic = "The frontmatter is not a list of `key: value` lines; it counts as text";
    return meant ? { body, diagnostic } : { body };
  }
  return { ...headOf(fields), body: text.slice(found.bodyStart) };
}

/** The block after those that hold nothing, if it means to be one; else the first. */
function pastStubs(text: string, first: Frontmatter): Frontmatter {
  let found = first;
  while (found.status === "closed" && isStub(found.block)) {
    const next = findFrontmatter(text, found.bodyStart);
    if (next.status === "none") return first;
    found = next;
  }
  return found.status !== "none" && LOOKS_LIKE_FIELDS.test(found.block) ? found : first;
}

function headOf(fields: Field[]): Head {
  const top = firsts(fields);
  const nested = firsts(fields.find(({ key }) => key === "metadata")?.nested ?? []);
  const name = top.get("name")?.shown ?? nested.get("name")?.shown;
  const description = top.get("description")?.shown ?? nested.get("description")?.shown;
  const type = memoryType(top.get("type")?.scalar) ?? memoryType(nested.get("type")?.scalar);
  const modified = time(top.get("modified")?.scalar) ?? time(nested.get("modified")?.scalar);
  const replaces = top.get("replaces")?.shown;
  const diagnostic = diagnosticOf(fields);
  return { name, description, type, modified, replaces, diagnostic };
}

/** The first field with a value of each key. */
function firsts(fields: Field[]): Map<string, Field> {
  const found = new Map<string, Field>();
  for (const field of fields) {
    if (field.shown !== "" && !found.has(field.key)) found.set(field.key, field);
  }
  return found;
}

function diagnosticOf(fields: Field[]): string | undefined {
  for (const key of ["name", "description", "type"]) {
    const same = fields.filter((field) => field.key === key);
    if (same.some(({ tooDeep }) => tooDeep)) return `The ${key} is nested too deeply to be read`;
    if (same.length > 1)
      return `The key ${key} stands there ${same.length} times; the first counts`;
  }
  return undefined;
}

/** ISO 8601 only, in epoch milliseconds; without a zone it is UTC. */
function time(text: string | undefined): number | undefined {
  const match = ISO_TIME.exec(text?.trim() ?? "");
  if (!match) return undefined;
  const zone = (match[3] ?? "Z").toUpperCase().replace(/(\d{2})(\d{2})$/, "$1:$2");
  const value = Date.parse(`${match[1]}T${match[2] ?? "00:00"}${zone}`);
  if (Number.isNaN(value)) return undefined;
  // A parser takes February 30 for March 2.
  const day = new Date(Date.parse(`${match[1]}T00:00Z`)).toISOString();
  return day.startsWith(match[1] ?? "") ? value : undefined;
}
