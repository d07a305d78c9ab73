import { errorName, log } from "../../../src/platform/log.ts";
import type {
  AccountStub,
  StoreQuery,
  StoreRow,
} from "../../../src/platform/objects/account-rpc.ts";
import type { MemdirStub, StoreMeta } from "../../../src/platform/objects/memdir-rpc.ts";
import { cutPage } from "../../../src/platform/page.ts";

/** A row without an object that is older than this is what a crash left, in milliseconds. */
const CREATION_MS = 10 * 60 * 1000;

interface StorePage {
  stores: StoreMeta[];
  /** The last row of the page, where another one follows. */
  last: StoreRow | undefined;
}

/**
 * One page of the account's stores. A row comes before its store and goes after it, so a crash leaves
 * a row without a store: this passes it over, and deletes it once no creation can still be on its
 * way. One store that fails does not spoil the list.
 */
export async function listStores(
  account: AccountStub,
  storeOf: (id: string) => MemdirStub,
  query: StoreQuery,
  now: number,
): Promise<StorePage> {
  const rows = await account.listStores({ ...query, limit: query.limit + 1 });
  const { page, last } = cutPage(rows, query.limit);
  const metas = await Promise.all(page.map((row) => metaOf(account, storeOf(row.id), row, now)));
  const stores = metas.filter((meta) => meta !== undefined);
  return {
    stores: query.includeArchived ? stores : stores.filter((meta) => meta.archivedAt === null),
    last,
  };
}

async function metaOf(
  account: AccountStub,
  store: MemdirStub,
  row: StoreRow,
  now: number,
): Promise<StoreMeta | undefined> {
  try {
    const reply = await store.meta();
    if (reply.ok) {
      if (reply.value.archivedAt !== null && !row.archived) await account.archiveStore(row.id);
      return reply.value;
    }
    const gone = reply.code === "not_found" && row.createdAt < now - CREATION_MS;
    if (gone) await account.removeStore(row.id);
  } catch (error) {
    log("stores.unreadable", { store: row.id, error: errorName(error) });
  }
  return undefined;
}
