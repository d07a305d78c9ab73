// Looks for files and symbols in a workspace, within a budget of storage calls. Beyond the budget, or if
// the storage fails, the answer is "unknown", never "gone".

import { relativeTo } from "../files/mounts.ts";
import { sideBySide } from "../files/side-by-side.ts";
import type { FileEntry, FileStore } from "../files/store.ts";
import { STORAGE_CONCURRENCY } from "../limits/files.ts";
import { RECALL_NAMED_FILES, RECALL_SEARCHED_FILES } from "../limits/recall.ts";
import { WALK_ENTRIES } from "../limits/tools.ts";
import { decodeText } from "../text/decode.ts";
import { createListings } from "./listings.ts";

export interface Workspace {
  store: FileStore;
  /** The agent's path of it: "/workspace/app". */
  at: string;
  /** The project: absolute, at or below `at`. */
  project: string;
}

interface ProbeBudget {
  /** Named files that are opened. */
  namedFiles: number;
  /** Files that a search opens; if there are more, there is no search. */
  searchedFiles: number;
  /** A file larger than this is not opened, in bytes. */
  fileBytes: number;
  /** Files that are listed. */
  entries: number;
  /** Calls in flight. */
  concurrency: number;
}

export const PROBE_BUDGET: ProbeBudget = {
  namedFiles: RECALL_NAMED_FILES,
  searchedFiles: RECALL_SEARCHED_FILES,
  fileBytes: 200_000,
  entries: WALK_ENTRIES,
  concurrency: STORAGE_CONCURRENCY,
};

export type Found = { status: "file"; entry: FileEntry } | { status: "there" | "gone" | "unknown" };

export interface Probe {
  /** Whether relative paths exist, below the project or else below the workspace. Never throws. */
  find(paths: readonly string[]): Promise<Map<string, Found>>;
  /** Opens named files, as far as the budget allows. Never throws. */
  open(entries: readonly FileEntry[]): Promise<void>;
  /**
   * Opens every file of the project that may contain a symbol, those with one of these names first,
   * until `enough` holds; false if it cannot. Never throws.
   */
  openAll(names: ReadonlySet<string>, enough: () => boolean): Promise<boolean>;
  /** The text of each opened file, by its path in the store; "" for one without text. */
  readonly opened: ReadonlyMap<string, string>;
}

/** Files that are not searched for symbols: no text, generated, or git's own. */
const NO_SOURCE =
  /(?:^|\/)\.git\/|\.(?:png|jpe?g|gif|webp|avif|ico|bmp|pdf|zip|gz|tgz|woff2?|ttf|otf|eot|mp[34]|mov|wav|wasm|sqlite|lock|map)$|\.min\.(?:js|css)$|(?:^|\/)(?:package-lock\.json|pnpm-lock\.yaml|go\.sum)$/i;

export function createProbe(workspace: Workspace, budget: ProbeBudget): Probe {
  const { store, at, project } = workspace;
  const base = relativeTo(at, project);
  const bases = base === "" ? [""] : [`${base}/`, ""];
  const opened = new Map<string, string>();
  const listings = createListings(store);
  let all: Promise<FileEntry[] | undefined> | undefined;

  async function openFile({ path }: FileEntry): Promise<void> {
    try {
      const file = await store.get(path);
      // Undefined: deleted since it was listed.
      opened.set(path, file === undefined ? "" : (decodeText(file.bytes) ?? ""));
    } catch {
      // It stays unopened, so nothing is claimed about its content.
    }
  }

  /** `folders` are worth a listing: each holds several of the paths that are asked for. */
  async function findOne(path: string, folders: ReadonlySet<string>): Promise<Found> {
    const looked = bases.map((base) => ({ base, full: base + path }));
    const unlisted: string[] = [];
    let isFolder = false;
    try {
      for (const { base, full } of looked) {
        const listed = await lookIn([base, folderOf(full)], folders, full);
        const entry = listed === undefined ? await store.head(full) : listed;
        if (typeof entry === "object") return { status: "file", entry };
        if (entry === undefined) unlisted.push(full);
        isFolder ||= entry === "folder";
      }
      if (isFolder) return { status: "there" };
      for (const full of unlisted) {
        const { entries } = await store.list({ prefix: `${full}/`, limit: 1 });
        if (entries.length > 0) return { status: "there" };
      }
      if (path.includes("/")) return { status: "gone" };
      // A name without a folder may be anywhere in the project.
      const files = await listAll();
      if (files === undefined) return { status: "unknown" };
      const entry = files.find((each) => each.path.endsWith(`/${path}`));
      return entry === undefined ? { status: "gone" } : { status: "file", entry };
    } catch {
      return { status: "unknown" };
    }
  }

  async function lookIn(places: readonly string[], folders: ReadonlySet<string>, path: string) {
    for (const place of new Set(places)) {
      const found = folders.has(place) ? await listings.look(place, path) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** All files of the project; undefined if there are too many or the storage fails. */
  function listAll(): Promise<FileEntry[] | undefined> {
    all ??= listings.all(bases[0] ?? "", budget.entries);
    return all;
  }

  return {
    opened,
    async find(paths) {
      const found = new Map<string, Found>();
      // A listing answers for many paths at once; for one alone a look at it is cheaper.
      const folders = foldersOfMany(
        bases.flatMap((base) => paths.map((path) => [base, base + path])),
      );
      const note = async (path: string) => {
        found.set(path, await findOne(path, folders));
      };
      await sideBySide(paths, note, budget.concurrency);
      return found;
    },
    async open(entries) {
      const small = entries.filter(({ size }) => size <= budget.fileBytes);
      const once = new Map(small.map((entry) => [entry.path, entry]));
      await sideBySide(
        [...once.values()].slice(0, budget.namedFiles),
        openFile,
        budget.concurrency,
      );
    },
    async openAll(names, enough) {
      const sources = (await listAll())?.filter(({ path }) => !NO_SOURCE.test(path));
      // A search that cannot see everything proves nothing.
      if (sources === undefined || sources.length > budget.searchedFiles) return false;
      if (sources.some(({ size }) => size > budget.fileBytes)) return false;
      const unopened = sources.filter(({ path }) => !opened.has(path));
      const isLikely = ({ path }: FileEntry) => names.has(nameOf(path));
      let done = false;
      await sideBySide(
        [...unopened.filter(isLikely), ...unopened.filter((each) => !isLikely(each))],
        async (source) => {
          done ||= enough();
          if (!done) await openFile(source);
        },
        budget.concurrency,
      );
      return done || sources.every(({ path }) => opened.has(path));
    },
  };
}

/** Folders that hold more than one of these paths, each given with another folder above it. */
function foldersOfMany(paths: readonly (readonly [above: string, path: string])[]): Set<string> {
  const once = new Set<string>();
  const many = new Set<string>();
  for (const [above, path] of paths) {
    for (const folder of new Set([above, folderOf(path)])) {
      if (once.has(folder)) many.add(folder);
      once.add(folder);
    }
  }
  return many;
}

/** "a/" for "a/b.ts", "" for a path without a folder. */
function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/") + 1);
}

/** The last segment of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
