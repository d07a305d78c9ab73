// The claims of a memory that can be checked in the workspace: the files and symbols that it names. An
// ambiguous text claims nothing, since a false alarm costs more than a missed one.

import { RECALL_CLAIMS } from "../limits/recall.ts";
import { canonicalRelative, isWithin } from "../safety/path.ts";

export interface Claims {
  /** Canonical and relative. */
  paths: string[];
  /** Identifiers without their qualifiers: "close" of `session.close`. */
  symbols: string[];
}

/** A longer path or span claims nothing, in characters: bounds the work on each. */
const MOST_CHARACTERS = 300;

/** Code between backticks on one line, or text between blanks, quotes, brackets and CJK text. */
const TOKEN =
  /`([^`\n]{1,300})`|[^\s`"'<>()[\]{},;|\p{Pi}\p{Pf}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\u3000-\u303f\u30fb\uff00-\uffef]+/gu;
/** A name before "()". It is none if a letter beyond ASCII comes before it. */
const CALL =
  /(?<![\w$\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])([A-Za-z_$][\w$]{1,99})(?=\(\))/gu;

/** A line number or a section after a path. */
const SUFFIX = /(?::\d+(?:[-:]\d+)*|#[\w-]*)$/;
/** No path of a workspace: drives, globs, variables, addresses, options, aliases and scoped packages. */
const NO_PATH = /[\\:*?%{}|<>"=&\s]|(?:^|[^/])@|^[~$@#!-]/;
/** The name of a server before the first slash; ".github" is none. */
const HOST = /^(?:[a-z0-9-]+\.)+[a-z]{2,}\//i;
const EXTENSION = /[^/]*\.(?:[A-Za-z][A-Za-z0-9]{1,9}|[chrCHR])$/;
/** Without a slash only these are files: `session.close` is a symbol. */
const FILE_NAME =
  /^(?!(?:res|response|req|request|this|self)\.)[\w@$+.-]*\.(?:[cm]?[jt]sx?|jsonc?|json5|css|s[ac]ss|less|html?|vue|svelte|astro|py|ipynb|rb|go|rs|java|kts?|swift|[chm]|cc|cpp|hpp|cs|php|sh|ps1|sql|ya?ml|toml|ini|cfg|xml|csv|txt|rst|mdx|proto|graphql|prisma|tf|gradle|png|jpe?g|gif|svg|pdf|zip|gz|lock)$/;
/** Products whose names look like files. */
const PRODUCT =
  /(?:^|\/)(?:node|deno|vue|next|nuxt|three|react|express|d3|chart|ember|alpine)\.js$/i;
/** Another memory, or a file without a folder that could be one. */
const MEMORY_FILE = /^(?:team\/.*|[^/]*)\.md$|(?:^|\/)MEMORY\.md$/;

/** One identifier, perhaps qualified, perhaps called. */
const IDENTIFIER = /^(?:[A-Za-z_$][\w$]*(?:\?\.|\.|::|#|->))*([A-Za-z_$][\w$]{2,99})(\(.*\))?$/s;
/** The last part of a server's name. */
const DOMAIN = /^(?:com|org|net|edu|gov|dev|app|cloud|info|example|local|internal|test)$/i;

/**
 * The first few paths and symbols of a text, each once, in their order. Paths are relative to the
 * workspace; absolute ones only below one of `roots` (canonical), as paths below that. URLs, home and
 * Windows paths, "..", e-mail addresses and other memories are none. Takes linear time.
 */
export function claimsOf(text: string, roots: readonly string[] = []): Claims {
  const paths = new Set<string>();
  const symbols = new Map<string, number>();
  for (const { 0: token, 1: span, index } of text.matchAll(TOKEN)) {
    if (paths.size >= RECALL_CLAIMS && symbols.size >= RECALL_CLAIMS) break;
    for (const path of pathsIn(token, span, roots)) {
      if (paths.size < RECALL_CLAIMS) paths.add(path);
    }
    const symbol = span === undefined ? undefined : symbolIn(span.trim());
    if (symbol !== undefined && !symbols.has(symbol)) symbols.set(symbol, index);
  }
  let calls = 0;
  for (const { 1: name = "", index } of text.matchAll(CALL)) {
    const at = symbols.get(name);
    if (at === undefined) calls += 1;
    symbols.set(name, Math.min(at ?? index, index));
    if (calls >= RECALL_CLAIMS) break;
  }
  const ordered = [...symbols].sort(([, left], [, right]) => left - right);
  return {
    paths: [...paths],
    symbols: ordered.slice(0, RECALL_CLAIMS).map(([symbol]) => symbol),
  };
}

function pathsIn(token: string, span: string | undefined, roots: readonly string[]): string[] {
  if (span === undefined) return pathIn(token, false, roots);
  const code = span.trim();
  if (!/\s/.test(code)) return pathIn(code, true, roots);
  return [...code.matchAll(TOKEN)].flatMap(([word]) => pathIn(word, false, roots));
}

function pathIn(written: string, quoted: boolean, roots: readonly string[]): string[] {
  if (written.length > MOST_CHARACTERS || !written.includes(".")) return [];
  const bare = quoted ? written : written.replace(/^[*:]+/, "").replace(/[*.,:!?…]+$/, "");
  let path = bare.replace(SUFFIX, "");
  const isAbsolute = path.startsWith("/");
  const isFile = path.includes("/") ? EXTENSION.test(path) : quoted && FILE_NAME.test(path);
  if (!isFile || PRODUCT.test(path) || HOST.test(path)) return [];
  if (isAbsolute) {
    const root = roots.find((each) => path !== each && isWithin(each, path));
    if (root === undefined) return [];
    path = path.slice(root === "/" ? 1 : root.length + 1);
  }
  if (NO_PATH.test(path)) return [];
  const canonical = canonicalRelative(path);
  if (canonical.status === "refused") return [];
  return isAbsolute || !MEMORY_FILE.test(canonical.path) ? [canonical.path] : [];
}

function symbolIn(code: string): string | undefined {
  const [whole, name, call] = IDENTIFIER.exec(code) ?? [];
  if (whole === undefined || name === undefined || FILE_NAME.test(code)) return undefined;
  const qualified = !code.startsWith(name);
  if (qualified && call === undefined && DOMAIN.test(name)) return undefined;
  const telling =
    /[a-z].*[A-Z]|[A-Z]{2}[a-z]{2}/.test(name) || /_.*[A-Za-z]|[A-Za-z].*_/.test(name);
  return call !== undefined || qualified || telling ? name : undefined;
}
