// One pointer of the index: `- [Title](file.md) - hook`, read and written.

import { JOINED } from "../safety/fence.ts";
import { canonicalRelative } from "../safety/path.ts";
import { isUsable, NO_DESCRIPTION } from "./description.ts";
import { INDEX_FILE } from "./entrypoint.ts";

export interface Pointer {
  title: string;
  /** The file, canonical, within the directory. */
  path: string;
  hook: string;
}

/** A line that is added is shorter than this, in UTF-16 units. */
export const POINTER_CHARACTERS = 150;
/** A title takes at most so many of them, so that a hook has room; a long path leaves it the least. */
const TITLE_MOST = 60;
const TITLE_LEAST = 8;
/** A link that is not complete by then is none, in characters: bounds the work on one line. */
const LINK_CHARACTERS = 4096;

/** What the instructions show as an example. */
const TEMPLATE = "[Title](file.md)";
const MARKER = /^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?[*_~]{0,3}/;
const TITLE = /^\[((?:\\.|[^[\]\\]|\[[^[\]]*\])*)\]/;
const ANGLE = /^\(\s*<((?:\\.|[^<>\\])*)>(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/;
const BARE = /^\(\s*((?:\\.|[^\s()\\<]|\((?:\\.|[^\s()\\])*\))+)(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/;
/** Not Markdown, but what people and models write, and mean. */
const LOOSE = /^\(\s*([^()<>]*\.md)\s*\)/;
const SEPARATOR = /^[*_~]{0,3}\s*(?:[-\u2010-\u2015\u2212:\uff1a]+\s*)?/;
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]/gu;

/**
 * The pointer that a line is, if it is one: a list item that begins with a link (emphasis or a task
 * box may come before) to an `*.md` file. Targets may be in angle brackets, percent-encoded, begin
 * with "./", hold blanks, and end in "#section". URLs, absolute paths, "..", anchors, images, the
 * index itself and the template of the instructions are no pointers.
 */
export function parsePointer(line: string): Pointer | undefined {
  const marker = MARKER.exec(line)?.[0];
  if (marker === undefined || line.startsWith(TEMPLATE, marker.length)) return undefined;
  const rest = line.slice(marker.length, marker.length + LINK_CHARACTERS);
  const title = TITLE.exec(rest);
  if (!title) return undefined;
  const link = rest.slice(title[0].length);
  const found = ANGLE.exec(link) ?? BARE.exec(link) ?? LOOSE.exec(link);
  const path = found ? targetOf(found[1] ?? "") : undefined;
  if (!found || path === undefined) return undefined;
  const hook = line.slice(marker.length + title[0].length + found[0].length);
  return { title: unescaped(title[1] ?? ""), path, hook: hook.replace(SEPARATOR, "").trim() };
}

/** Whether a path is that of a topic file: canonical, `*.md`, and not the index itself. */
export function isTopicFile(path: string): boolean {
  const canonical = canonicalRelative(path);
  return canonical.status === "ok" && canonical.path === path && isTopic(path);
}

/**
 * The line for a topic file, without a line end; shorter than 150 characters unless the path takes
 * more than 135. `parsePointer` reads path, title and hook back, each as it was but for what was cut
 * off and what nobody sees. A missing name is the file's, a missing description is said to be missing.
 * Paths with blanks or parentheses are written as `<a b.md>`.
 */
export function formatPointer(file: {
  path: string;
  name?: string | undefined;
  description?: string | undefined;
}): string {
  const fallback = file.path.slice(file.path.lastIndexOf("/") + 1).replace(/\.md$/, "");
  const title = visible(file.name ?? "") || visible(fallback);
  const { description } = file;
  const forms = [/[\s()]/.test(file.path) ? [] : file.path, `<${file.path}>`, encode(file.path)];
  const links = forms.flat().map((form) => {
    const room = POINTER_CHARACTERS - 1 - "- []()".length - form.length;
    return `- [${linkText(title, Math.max(TITLE_LEAST, Math.min(TITLE_MOST, room)))}](${form})`;
  });
  const link = links.find((text) => parsePointer(text)?.path === file.path) ?? links.at(-1) ?? "";
  const about = isUsable(description) ? visible(description) : NO_DESCRIPTION;
  const hook = cut(about, POINTER_CHARACTERS - 1 - link.length - 3);
  return hook === "" ? link : `${link} - ${hook}`;
}

/** A pointer line that keeps its place and words but points to nothing any more. */
export function unlinked(line: string, pointer: Pointer): string {
  const bullet = /^[ \t]*\S+[ \t]+/.exec(line)?.[0] ?? "- ";
  const title = `${bullet}(gone) ${visible(pointer.title)}`.trimEnd();
  return pointer.hook === "" ? title : `${title} - ${pointer.hook}`;
}

function targetOf(written: string): string | undefined {
  const text = unescaped(written).trim();
  const file = /^(.*?\.md)#/s.exec(text)?.[1] ?? text;
  // "#part.md" is an anchor, "mailto:x.md" has a scheme; a file of that name is percent-encoded.
  if (/^(?:#|[a-z][a-z0-9+.-]+:)/i.test(file)) return undefined;
  const canonical = canonicalRelative(decode(file));
  if (canonical.status === "refused") return undefined;
  return isTopic(canonical.path) ? canonical.path : undefined;
}

function isTopic(path: string): boolean {
  return path.endsWith(".md") && path !== INDEX_FILE;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function encode(path: string): string {
  const encoded = path.split("/").map((part) => encodeURIComponent(part.toWellFormed()));
  return encoded.join("/").replaceAll(/[()!'*~]/g, percent);
}

function percent(sign: string): string {
  return `%${sign.charCodeAt(0).toString(16).toUpperCase()}`;
}

function unescaped(text: string): string {
  return text.replaceAll(/\\([!-/:-@[-`{-~])/g, "$1");
}

/** A title within a link, at most so long: escaped where it would not be read back as it is. */
function linkText(title: string, most: number): string {
  for (let size = most; ; size -= 1) {
    const shown = cut(title, size);
    const words = isPlainTitle(shown) ? shown : shown.replaceAll(/[[\]\\`]/g, "\\$&");
    if (words.length <= most) return words;
  }
}

function isPlainTitle(title: string): boolean {
  // A lone backtick may find its fellow in the hook: in Markdown the link between them would be code.
  const isCode = title.includes("`");
  return !isCode && parsePointer(`- [${title}](x.md)`)?.title === title;
}

/** On one line, without what nobody sees. */
function visible(text: string): string {
  const whole = text.toWellFormed();
  const joined = new Set([...whole.matchAll(JOINED)].map((match) => match.index));
  return whole
    .replaceAll(INVISIBLE, (sign, index: number) => (joined.has(index) ? sign : " "))
    .replaceAll(/ +/g, " ")
    .trim();
}

/** At most so many UTF-16 units, cut between characters, with a mark where something is missing. */
function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  let kept = "";
  for (const character of text) {
    if (kept.length + character.length > most - 1) break;
    kept += character;
  }
  kept = kept.trimEnd();
  return kept === "" ? "" : `${kept}…`;
}
