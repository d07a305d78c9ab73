// The rules for every path: canonicalise it, or refuse it with the name of a rule, never clamp it, which
// would turn an attack into a write somewhere else. The permission check, the storage call, the record
// of writes and the log use the same canonical string.

import { PATH_BYTES, PATH_SEGMENT_BYTES } from "../limits/files.ts";
import { byteLength } from "../text/bytes.ts";

export type PathRule =
  | "empty"
  | "relative"
  | "absolute"
  | "too_long"
  | "lone_surrogate"
  | "control_character"
  | "backslash"
  | "unc"
  | "url"
  | "drive"
  | "percent_encoding"
  | "look_alike"
  | "dot_dot"
  | "dots_only"
  | "whitespace";

type CanonicalPath =
  | { status: "ok"; path: string }
  | { status: "refused"; rule: PathRule; message: string };

const REASONS: Record<PathRule, string> = {
  empty: "it is empty",
  relative: 'it is relative, and a path starts with "/"',
  absolute: 'it is absolute, and a path here does not start with "/"',
  too_long: `it is longer than ${PATH_BYTES} bytes, or one segment is longer than ${PATH_SEGMENT_BYTES} bytes`,
  lone_surrogate: "it holds half a character (a lone surrogate)",
  control_character: "it holds a control, format or invisible character",
  backslash: 'it holds a backslash, and segments are separated by "/"',
  unc: 'it starts with "//", as a network share does',
  url: "it is a URL",
  drive: "it holds a drive letter",
  percent_encoding: "it holds a percent-encoded dot, separator, NUL or percent sign",
  look_alike: "it holds a character that looks like a separator",
  dot_dot: 'it holds a ".." segment',
  dots_only: "a segment consists of dots or of characters that look like dots",
  whitespace: "a segment starts or ends with whitespace",
};

// Variation selectors stay: names such as "❤️.md" end in one. Joiners go: they hide in plain text.
const INVISIBLE = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}]--\p{VS}]/v;
const ENCODED = /%(?:2e|2f|5c|00|25)/i;
const URL_SCHEME = /(?:^|\/)[a-z][a-z0-9+.-]*:\/\//i;
const DRIVE = /^[a-z]:$/i;
const SEPARATOR_LOOK_ALIKE =
  /[\u2044\u2215\u2216\u27cb\u27cd\u29f5\u29f6\u29f8\u29f9\ufe68\uff0f\uff3c]/;
/** Dots, and what still looks like a dot after NFKC: ideographic, Lisu and Syriac full stops. */
const DOTS_ONLY = /^[.\u3002\ua4f8\u0701\u0702]+$/;

/**
 * The canonical form of an absolute virtual path: "/a/b", NFC, without empty and "." segments and without
 * a final slash; "/" is the root. Canonical input comes back unchanged.
 */
export function canonicalPath(raw: string): CanonicalPath {
  const spelling = spellingRule(raw);
  if (spelling !== undefined) return refused(raw, spelling);
  if (!raw.startsWith("/")) return refused(raw, "relative");
  const segments = canonicalSegments(raw, PATH_BYTES - 1);
  if (typeof segments === "string") return refused(raw, segments);
  return { status: "ok", path: `/${segments.join("/")}` };
}

/** The canonical form of a path inside a store: "a/b". Refuses "" and what is equal to it (".", "./"). */
export function canonicalRelative(raw: string): CanonicalPath {
  const spelling = spellingRule(raw);
  if (spelling !== undefined) return refused(raw, spelling);
  if (raw.startsWith("/")) return refused(raw, "absolute");
  const segments = canonicalSegments(raw, PATH_BYTES);
  if (typeof segments === "string") return refused(raw, segments);
  if (segments.length === 0) return refused(raw, "empty");
  return { status: "ok", path: segments.join("/") };
}

/** Whether a canonical path is `root` or below it; "/a-b" is not within "/a". */
export function isWithin(root: string, path: string): boolean {
  return path === root || path.startsWith(root === "/" ? "/" : `${root}/`);
}

/** A raw path for a message: quoted, cut, with escapes for invisible characters. */
export function showPath(raw: string): string {
  const visible = raw
    .slice(0, 200)
    .toWellFormed()
    .replaceAll(new RegExp(INVISIBLE, "gv"), escapeCharacter);
  return `"${visible}${raw.length > 200 ? "…" : ""}"`;
}

/** The rules for the raw string, before any normalisation. */
function spellingRule(raw: string): PathRule | undefined {
  if (raw.trim() === "") return "empty";
  if (raw.length > PATH_BYTES || byteLength(raw) > PATH_BYTES) return "too_long";
  if (!raw.isWellFormed()) return "lone_surrogate";
  if (/^(?:\/\/|\\\\)/.test(raw)) return "unc";
  if (INVISIBLE.test(raw)) return "control_character";
  if (raw.includes("\\")) return "backslash";
  if (URL_SCHEME.test(raw)) return "url";
  if (ENCODED.test(raw)) return "percent_encoding";
  if (SEPARATOR_LOOK_ALIKE.test(raw) || becomesSeparator(raw)) return "look_alike";
  return undefined;
}

function canonicalSegments(raw: string, most: number): string[] | PathRule {
  const kept: string[] = [];
  for (const segment of raw.normalize("NFC").split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment === "..") return "dot_dot";
    if (segment.trim() !== segment) return "whitespace";
    if (DOTS_ONLY.test(segment.normalize("NFKC"))) return "dots_only";
    if (DRIVE.test(segment)) return "drive";
    // NFC can lengthen a name (composition exclusions), so the canonical form is measured.
    if (byteLength(segment) > PATH_SEGMENT_BYTES) return "too_long";
    kept.push(segment);
  }
  return byteLength(kept.join("/")) > most ? "too_long" : kept;
}

/** Characters such as U+2100 contain a slash once a later layer applies NFKC. */
function becomesSeparator(raw: string): boolean {
  return /[\\/]/.test(raw.replaceAll("/", "").normalize("NFKC"));
}

function refused(raw: string, rule: PathRule): CanonicalPath {
  return { status: "refused", rule, message: `Cannot use path ${showPath(raw)}: ${REASONS[rule]}` };
}

function escapeCharacter(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16) ?? ""}}`;
}
