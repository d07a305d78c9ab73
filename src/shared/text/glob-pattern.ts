// Globs come from models and users, so they run on RE2, which takes linear time for any pattern.

import { RE2JS } from "re2js";
import { PATTERN_CHARACTERS, PATTERN_PROGRAM, PATTERN_SLICE_STEPS } from "../limits/tools.ts";

export type GlobPattern =
  | {
      status: "compiled";
      matches(path: string): boolean;
      /** The steps of matching these paths, in characters times instructions. */
      steps(paths: readonly string[]): number;
      /** Whether a path is too long for this glob to match without blocking other tasks; it does not match. */
      isTooLong(path: string): boolean;
    }
  | { status: "refused"; message: string };

/**
 * A glob over paths without a leading slash: `**` any directories, `*` and `?` within a segment,
 * `[a-z]` and `[!a-z]`, `{a,b}` (may nest), `\` takes the next character as it is. Names that start
 * with a dot match like others. Without "/" in it, it matches the last segment at any depth, unless
 * it is `anchored`.
 */
export function compileGlob(glob: string, options: { anchored?: boolean } = {}): GlobPattern {
  const normal = glob.normalize("NFC");
  if (normal === "") return refuse(glob, "it is empty");
  if (normal.length > PATTERN_CHARACTERS) {
    return refuse(`${glob.slice(0, 40)}…`, `it is longer than ${PATTERN_CHARACTERS} characters`);
  }
  if (normal.split(/[/{},]/).includes("..")) {
    return refuse(glob, '".." is not allowed; search from another path instead');
  }
  const translated = translate(normal);
  if (translated.status === "refused") return refuse(glob, translated.reason);
  const byName = !normal.includes("/") && options.anchored !== true;
  const matched = (path: string) => (byName ? path.slice(path.lastIndexOf("/") + 1) : path);
  if (!/[*?[\]{}\\]/.test(normal)) {
    const matches = (path: string) => matched(path) === normal;
    return { status: "compiled", matches, steps: ({ length }) => length, isTooLong: () => false };
  }
  try {
    const compiled = RE2JS.compile(translated.expression, RE2JS.DOTALL);
    const size = compiled.programSize();
    if (size > PATTERN_PROGRAM) return refuse(glob, "it is too large; use a simpler one");
    const most = Math.floor(PATTERN_SLICE_STEPS / size);
    const isTooLong = (path: string) => matched(path).length > most;
    return {
      status: "compiled",
      matches: (path) => !isTooLong(path) && compiled.testExact(matched(path)),
      steps: (paths) =>
        paths.reduce((sum, path) => sum + size * (Math.min(matched(path).length, most) + 1), 0),
      isTooLong,
    };
  } catch {
    return refuse(glob, "it is no valid pattern");
  }
}

/** The directories before the first segment with a wildcard: "/a/b" of "/a/b/*.md". */
export function literalDirectory(glob: string): string {
  const segments = glob.split("/");
  const wild = segments.findIndex((segment) => /[*?[\]{}\\]/.test(segment));
  return segments.slice(0, wild === -1 ? -1 : wild).join("/");
}

type Translation =
  | { status: "translated"; expression: string }
  | { status: "refused"; reason: string };

function translate(glob: string): Translation {
  let expression = "";
  let depth = 0;
  let index = 0;
  while (index < glob.length) {
    const rest = glob.slice(index);
    const atStart = index === 0 || "/{,".includes(glob[index - 1] ?? "");
    if (atStart && /^\*\*\/+/.test(rest)) {
      expression += "(?:.*/)?";
      index += rest.match(/^(?:\*\*\/+)+/)?.[0].length ?? rest.length;
      continue;
    }
    if (rest.startsWith("**")) {
      // "**" as a whole last segment goes down; within a segment it is no more than "*".
      expression += atStart && /^\*+(?:$|[,}])/.test(rest) ? ".*" : "[^/]*";
      index += rest.match(/^\*+/)?.[0].length ?? rest.length;
      continue;
    }
    const character = String.fromCodePoint(glob.codePointAt(index) ?? 0);
    index += character.length;
    if (character === "*") expression += "[^/]*";
    else if (character === "?") expression += "[^/]";
    else if (character === "{") {
      expression += "(?:";
      depth += 1;
    } else if (character === "}" && depth > 0) {
      expression += ")";
      depth -= 1;
    } else if (character === "," && depth > 0) expression += "|";
    else if (character === "[") {
      const set = /^\[([!^]?)(\]?[^\]/]*)\]/.exec(rest);
      if (set === null || set[2] === "")
        return { status: "refused", reason: '"[" is never closed' };
      index += set[0].length - 1;
      expression += translateSet(set[1] !== "", set[2] ?? "");
    } else if (character === "\\") {
      const next = glob.codePointAt(index);
      if (next === undefined) return { status: "refused", reason: 'it ends in "\\"' };
      expression += RE2JS.quote(String.fromCodePoint(next));
      index += next > 0xffff ? 2 : 1;
    } else expression += RE2JS.quote(character);
  }
  if (depth > 0) return { status: "refused", reason: '"{" is never closed' };
  return { status: "translated", expression };
}

/** A set of characters; of its members only "-" between two others is special. */
function translateSet(negated: boolean, members: string): string {
  const escaped = members.replaceAll(/[\\\]^[&~]/g, "\\$&");
  return negated ? `[^/${escaped}]` : `[${escaped}]`;
}

function refuse(glob: string, reason: string): GlobPattern {
  return { status: "refused", message: `Cannot use the pattern "${glob}": ${reason}` };
}
