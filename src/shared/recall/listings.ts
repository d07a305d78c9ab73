// Listings of a store for many questions: each folder is asked for once, and a folder that fits on one
// page answers for everything below it.

import type { FileEntry, FileStore, ListPage } from "../files/store.ts";

export interface Listings {
  /**
   * What the listing of a folder ("" or ending in "/") says of a path in the store: a file, a folder
   * with files, or neither. Undefined where the folder does not fit on a page or the storage fails.
   */
  look(folder: string, path: string): Promise<FileEntry | "folder" | "nothing" | undefined>;
  /** All files below a folder; undefined if there are more than `most` or the storage fails. */
  all(folder: string, most: number): Promise<FileEntry[] | undefined>;
}

interface FirstPage extends ListPage {
  byPath: ReadonlyMap<string, FileEntry>;
}

export function createListings(store: FileStore): Listings {
  const pages = new Map<string, Promise<FirstPage>>();

  function firstPage(folder: string): Promise<FirstPage> {
    const known = pages.get(folder);
    if (known) return known;
    const page = store.list({ prefix: folder }).then((listed) => ({
      ...listed,
      byPath: new Map(listed.entries.map((entry) => [entry.path, entry])),
    }));
    pages.set(folder, page);
    return page;
  }

  return {
    async look(folder, path) {
      const page = await firstPage(folder).catch(() => undefined);
      const entry = page?.byPath.get(path);
      if (!page || entry) return entry;
      if (page.entries.some((each) => each.path.startsWith(`${path}/`))) return "folder";
      return page.next === undefined ? "nothing" : undefined;
    },
    async all(folder, most) {
      try {
        const { entries, next } = await firstPage(folder);
        const found = [...entries];
        for (let after = next; after !== undefined && found.length <= most; ) {
          const page = await store.list({ prefix: folder, after });
          found.push(...page.entries);
          after = page.next;
        }
        return found.length > most ? undefined : found;
      } catch {
        return undefined;
      }
    },
  };
}
