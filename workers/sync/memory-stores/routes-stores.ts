// The stores themselves. Two objects know of each: the account that it is there, the store what it
// is. Creating: list it, then make it. Deleting: clear it, then unlist it. So a crash between the
// two leaves a row without a store, which `listStores` clears away, and never a store that nobody
// can find. Archiving: the store first, whose word counts.

import { Hono } from "hono";
import type { Edge } from "../../../src/platform/http/edge.ts";
import {
  lowerBound,
  pageCursor,
  pageLimit,
  readPageCursor,
  requestKey,
  upperBound,
} from "../../../src/platform/http/edge.ts";
import { jsonBody } from "../../../src/platform/http/json-body.ts";
import { accountStub } from "../../../src/platform/objects/account-rpc.ts";
import { memdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { userOwner } from "../../../src/platform/objects/store-owner.ts";
import { customStorePrefix } from "../../../src/platform/r2/mount-table.ts";
import { MemdirError } from "../../../src/shared/errors.ts";
import type { SyncEnv } from "../../env.ts";
import { listStores } from "./list-stores.ts";
import { createStore, updateStore } from "./requests.ts";
import { historyRoutes } from "./routes-history.ts";
import { memoryRoutes } from "./routes-memories.ts";
import { versionRoutes } from "./routes-versions.ts";
import { storeShape } from "./shapes.ts";
import { newStoreId } from "./store-id.ts";
import { checkMetadataPatch, newMetadata } from "./store-metadata.ts";
import { answered, storeIdOf, storeOf } from "./store-request.ts";

const STORES = "/v1/memory_stores";

/** Everything below `/v1/memory_stores`. */
export function storeRoutes(): Hono<Edge<SyncEnv>> {
  const app = new Hono<Edge<SyncEnv>>();
  app.post(STORES, async (c) => {
    const principal = c.get("principal");
    const { value, bytes } = await jsonBody(c.req.raw, createStore);
    const kind = "custom" as const;
    const metadata = newMetadata(kind, value.metadata ?? {});
    const wanted = { id: newStoreId(), kind, createdAt: Date.now(), archived: false };
    const request = await requestKey(c.req.raw.headers, bytes);
    const { id, createdAt } = unwrap(await accountStub(c.env, principal).addStore(wanted, request));
    const owner = userOwner(principal);
    const meta = {
      id,
      owner,
      kind,
      prefix: customStorePrefix(principal, id),
      name: value.name,
      description: value.description ?? "",
      metadata,
      createdAt,
      updatedAt: createdAt,
      archivedAt: null,
    };
    return c.json(storeShape(unwrap(await memdirStub(c.env, owner, id).open(meta))));
  });

  app.get(STORES, async (c) => {
    const principal = c.get("principal");
    const query = (name: string) => c.req.query(name);
    const after = readPageCursor(query("page"), rowCursor);
    const from = lowerBound(query);
    const to = upperBound(query);
    const { stores, last } = await listStores(
      accountStub(c.env, principal),
      (id) => memdirStub(c.env, userOwner(principal), id),
      {
        limit: pageLimit(query("limit")),
        includeArchived: flag("include_archived", query("include_archived")),
        after,
        from,
        to,
      },
      Date.now(),
    );
    return c.json({
      data: stores.map(storeShape),
      next_page: last ? pageCursor([last.createdAt, last.id]) : null,
    });
  });

  app.get(`${STORES}/:id`, async (c) => c.json(storeShape(answered(await storeOf(c).meta()))));

  app.post(`${STORES}/:id`, async (c) => {
    const store = storeOf(c);
    const { value } = await jsonBody(c.req.raw, updateStore);
    const meta = answered(await store.meta());
    if (meta.archivedAt !== null) {
      throw new MemdirError(
        "invalid_request",
        "This memory store is archived, which cannot be undone: it can be read and deleted, not changed",
      );
    }
    if (value.metadata) checkMetadataPatch(meta, value.metadata);
    const patch = {
      name: value.name ?? undefined,
      description: value.description ?? undefined,
      metadata: value.metadata ?? undefined,
    };
    if (Object.values(patch).every((field) => field === undefined)) {
      return c.json(storeShape(meta));
    }
    return c.json(storeShape(answered(await store.updateMeta(patch))));
  });

  app.post(`${STORES}/:id/archive`, async (c) => {
    const meta = answered(await storeOf(c).archive());
    await accountStub(c.env, c.get("principal")).archiveStore(meta.id);
    return c.json(storeShape(meta));
  });

  app.delete(`${STORES}/:id`, async (c) => {
    const id = storeIdOf(c);
    const reply = await storeOf(c).destroy();
    // Also where it is gone already: an earlier deletion may have died before this.
    if (reply.ok || reply.code === "not_found") {
      await accountStub(c.env, c.get("principal")).removeStore(id);
    }
    answered(reply);
    return c.json({ id, type: "memory_store_deleted" });
  });

  app.route("/", memoryRoutes());
  app.route("/", versionRoutes());
  app.route("/", historyRoutes());
  return app;
}

function rowCursor(value: unknown): { createdAt: number; id: string } | undefined {
  if (!Array.isArray(value)) return undefined;
  const [createdAt, id]: unknown[] = value;
  return typeof createdAt === "number" && typeof id === "string" ? { createdAt, id } : undefined;
}

function flag(name: string, text: string | undefined): boolean {
  if (text === undefined || text === "false") return false;
  if (text === "true") return true;
  throw new MemdirError("invalid_request", `${name}: use "true" or "false"`);
}
