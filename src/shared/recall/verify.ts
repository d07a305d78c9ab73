// A memory says what was true when it was written. Its claims are checked in the workspace before the
// model relies on them; only what is known to be missing is reported.

import type { FileEntry } from "../files/store.ts";
import { isWithin } from "../safety/path.ts";
import { type Claims, claimsOf } from "./claims.ts";
import {
  createProbe,
  type Found,
  nameOf,
  PROBE_BUDGET,
  type Probe,
  type Workspace,
} from "./probe.ts";

/** Letters of names, as in claims.ts: a comment in Chinese has no blank before a name. */
const PART_OF_NAME = /[\w$\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]/u;

interface Checked extends Claims {
  memory: string;
  /** Named files that exist. */
  files: FileEntry[];
}

/**
 * The claims of each memory that could not be confirmed, in words. Names of the memory directory's own
 * files (`memoryFiles`, relative to it) are no claims. What could not be looked at is not reported; a
 * symbol only if every file was read, or a file that the memory names. Never throws.
 */
export async function verifyClaims(
  memories: readonly { path: string; text: string }[],
  workspace: Workspace,
  budget = PROBE_BUDGET,
  memoryFiles: ReadonlySet<string> = new Set(),
): Promise<Map<string, string[]>> {
  if (!isWithin(workspace.at, workspace.project)) return new Map();
  const roots = [workspace.project, workspace.at];
  const claims = memories.map(({ path, text }) => {
    const { paths, symbols } = claimsOf(text, roots);
    return { memory: path, paths: paths.filter((named) => !memoryFiles.has(named)), symbols };
  });
  const probe = createProbe(workspace, budget);
  const found = await probe.find([...new Set(claims.flatMap(({ paths }) => paths))]);
  const checked = claims.map((each) => ({ ...each, files: filesOf(each.paths, found) }));
  const missing = await missingSymbols(checked, probe);
  return new Map(
    checked.map(({ memory, paths }) => {
      const gone = paths.filter((path) => found.get(path)?.status === "gone");
      const texts = gone.map((path) => `\`${path}\` is not there any more`);
      return [memory, [...texts, ...(missing.get(memory) ?? [])]];
    }),
  );
}

function filesOf(paths: readonly string[], found: ReadonlyMap<string, Found>): FileEntry[] {
  return paths.flatMap((path) => {
    const each = found.get(path);
    return each?.status === "file" ? [each.entry] : [];
  });
}

/** Searches the files that a memory names, then all files if a symbol is left. */
async function missingSymbols(
  checked: readonly Checked[],
  probe: Probe,
): Promise<Map<string, string[]>> {
  await probe.open(checked.flatMap(({ files, symbols }) => (symbols.length > 0 ? files : [])));
  const open = checked.map(({ symbols, files, ...rest }) => {
    const texts = files.map(({ path }) => probe.opened.get(path) ?? "");
    const open = symbols.filter((symbol) => !texts.some((text) => containsSymbol(text, symbol)));
    return { ...rest, files, symbols: open };
  });
  if (open.every(({ symbols }) => symbols.length === 0)) return new Map();
  const left = new Set(open.flatMap(({ symbols }) => symbols));
  let looked = 0;
  const areAllFound = () => {
    for (const [path, text] of [...probe.opened].slice(looked)) {
      looked += 1;
      for (const symbol of left) {
        if (containsSymbol(text, symbol) || containsSymbol(path, symbol)) left.delete(symbol);
      }
    }
    return left.size === 0;
  };
  const names = new Set(checked.flatMap(({ paths }) => paths.map(nameOf)));
  // If the project is too large to search, only the named files can tell.
  const readAll = await probe.openAll(names, areAllFound);
  if (areAllFound()) return new Map();
  return new Map(
    open.map(({ memory, symbols, files }) => {
      if (!readAll && files.length === 0) return [memory, []];
      if (!files.every(({ path }) => probe.opened.has(path))) return [memory, []];
      const gone = symbols.filter((symbol) => left.has(symbol));
      const place = placeOf(files, readAll);
      return [memory, gone.map((symbol) => `\`${symbol}\` was not found in ${place}`)];
    }),
  );
}

function placeOf(files: readonly FileEntry[], readAll: boolean): string {
  const [file, more] = files;
  if (!readAll) return file && !more ? `\`${file.path}\`` : "the files named here";
  if (file === undefined || more !== undefined) return "the workspace";
  return `\`${file.path}\` or elsewhere in the workspace`;
}

/** Whether a text contains a symbol as a whole word. */
function containsSymbol(text: string, symbol: string): boolean {
  for (let at = text.indexOf(symbol); at !== -1; at = text.indexOf(symbol, at + 1)) {
    const around = `${text[at - 1] ?? " "}${text[at + symbol.length] ?? " "}`;
    if (!PART_OF_NAME.test(around)) return true;
  }
  return false;
}
