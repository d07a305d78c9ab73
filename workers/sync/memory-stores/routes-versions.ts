import { Hono } from "hono";
import type { Edge } from "../../../src/platform/http/edge.ts";
import {
  lowerBound,
  pageCursor,
  pageLimit,
  readPageCursor,
  upperBound,
} from "../../../src/platform/http/edge.ts";
import type { Operation, VersionQuery } from "../../../src/platform/objects/memdir-rpc.ts";
import { cutPage } from "../../../src/platform/page.ts";
import { MemdirError } from "../../../src/shared/errors.ts";
import { PAGE_DEFAULT, PAGE_MOST } from "../../../src/shared/limits/http.ts";
import { FULL_PAGE_MOST } from "../../../src/shared/limits/memory.ts";
import type { SyncEnv } from "../../env.ts";
import { versionShape } from "./shapes.ts";
import type { StoreRequest } from "./store-request.ts";
import {
  actorOf,
  answered,
  missingVersion,
  storeIdOf,
  storeOf,
  versionIdOf,
  wantsContent,
} from "./store-request.ts";

const VERSIONS = "/v1/memory_stores/:id/memory_versions";

/** List, get and redact the versions of a store's memories. */
export function versionRoutes(): Hono<Edge<SyncEnv>> {
  const app = new Hono<Edge<SyncEnv>>();
  app.get(VERSIONS, async (c) => {
    const store = storeOf(c);
    const id = storeIdOf(c);
    const query = versionQuery(c);
    if (authoredByOthers(c)) {
      answered(await store.meta());
      return c.json({ data: [], next_page: null });
    }
    const found = answered(await store.versions({ ...query, limit: query.limit + 1 }));
    const { page, last } = cutPage(found, query.limit);
    return c.json({
      data: page.map((version) => versionShape(id, version, query.withContent)),
      next_page: last ? pageCursor(last.n) : null,
    });
  });

  app.get(`${VERSIONS}/:version`, async (c) => {
    const full = wantsContent(c, "full");
    const version = answered(await storeOf(c).version(await versionIdOf(c)));
    if (!version) throw missingVersion();
    return c.json(versionShape(storeIdOf(c), version, full));
  });

  app.post(`${VERSIONS}/:version/redact`, async (c) => {
    const store = storeOf(c);
    const redacted = answered(await store.redact(await versionIdOf(c), actorOf(c)));
    if (!redacted) throw missingVersion();
    return c.json(versionShape(storeIdOf(c), redacted, true));
  });
  return app;
}

function versionQuery(c: StoreRequest): VersionQuery {
  const query = (name: string) => c.req.query(name);
  const withContent = wantsContent(c, "basic");
  const most = withContent ? FULL_PAGE_MOST : PAGE_MOST;
  return {
    withContent,
    memoryId: query("memory_id"),
    sessionId: query("session_id"),
    operation: operationOf(query("operation")),
    from: lowerBound(query),
    to: upperBound(query),
    before: readPageCursor(query("page"), versionNumber),
    limit: pageLimit(query("limit"), Math.min(PAGE_DEFAULT, most), most),
  };
}

/** Users and sessions write here: no version is by an API key or a service account. */
function authoredByOthers(c: StoreRequest): boolean {
  return c.req.query("api_key_id") !== undefined || c.req.query("service_account_id") !== undefined;
}

function operationOf(text: string | undefined): Operation | undefined {
  if (text === undefined || text === "created" || text === "modified" || text === "deleted") {
    return text;
  }
  throw new MemdirError("invalid_request", 'operation: use "created", "modified" or "deleted"');
}

function versionNumber(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && typeof value === "number" ? value : undefined;
}
