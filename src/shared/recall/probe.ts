// Looks for files and symbols in a workspace, within a budget of storage calls. Beyond the budget, or if
// the storage fails, the answer is "unknown", never "gone".

import { relativeTo } from "../files/mounts.ts";
import { sideBySide } from "../files/side-by-side.ts";
import type { FileEntry, FileStore } from "../files/store.ts";
import { STORAGE_CONCURRENCY } from "../limits/files.ts";
import { RECALL_NAMED_FILES, RECALL_SEARCHED_FILES } from "../limits/recall.ts";
import { WALK_ENTRIES } from "../limits/tools.ts";
import { decodeText } from "../text/decode.ts";

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
  /** Opens every file of the project that may contain a symbol; false if it cannot. Never throws. */
  openAll(): Promise<boolean>;
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
  let listing: Promise<FileEntry[] | undefined> | undefined;

  async function openFile({ path }: FileEntry): Promise<void> {
    try {
      const file = await store.get(path);
      // Undefined: deleted since it was listed.
      opened.set(path, file === undefined ? "" : (decodeText(file.bytes) ?? ""));
    } catch {
      // It stays unopened, so nothing is claimed about its content.
    }
  }

  async function findOne(path: string): Promise<Found> {
    try {
      for (const each of bases) {
        const entry = await store.head(each + path);
        if (entry !== undefined) return { status: "file", entry };
      }
      for (const each of bases) {
        const { entries } = await store.list({ prefix: `${each}${path}/`, limit: 1 });
        if (entries.length > 0) return { status: "there" };
      }
      if (path.includes("/")) return { status: "gone" };
      // A name without a folder may be anywhere in the project.
      const all = await list();
      if (all === undefined) return { status: "unknown" };
      const entry = all.find((each) => each.path.endsWith(`/${path}`));
      return entry === undefined ? { status: "gone" } : { status: "file", entry };
    } catch {
      return { status: "unknown" };
    }
  }

  /** All files of the project; undefined if there are too many or the storage fails. */
  function list(): Promise<FileEntry[] | undefined> {
    listing ??= listAll(store, bases[0] ?? "", budget.entries).catch(() => undefined);
    return listing;
  }

  return {
    opened,
    async find(paths) {
      const found = new Map<string, Found>();
      const note = async (path: string) => {
        found.set(path, await findOne(path));
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
    async openAll() {
      const sources = (await list())?.filter(({ path }) => !NO_SOURCE.test(path));
      // A search that cannot see everything proves nothing.
      if (sources === undefined || sources.length > budget.searchedFiles) return false;
      if (sources.some(({ size }) => size > budget.fileBytes)) return false;
      const unopened = sources.filter(({ path }) => !opened.has(path));
      await sideBySide(unopened, openFile, budget.concurrency);
      return sources.every(({ path }) => opened.has(path));
    },
  };
}

async function listAll(
  store: FileStore,
  prefix: string,
  most: number,
): Promise<FileEntry[] | undefined> {
  const all: FileEntry[] = [];
  let after: string | undefined;
  do {
    const page = await store.list({ prefix, after });
    all.push(...page.entries);
    if (all.length > most) return undefined;
    after = page.next;
  } while (after !== undefined);
  return all;
}
