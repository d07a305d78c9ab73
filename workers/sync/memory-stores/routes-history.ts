// Ours: going back, and following what changes.

import { Hono } from "hono";
import type { Edge } from "../../../src/platform/http/edge.ts";
import { pageLimit } from "../../../src/platform/http/edge.ts";
import { jsonBody } from "../../../src/platform/http/json-body.ts";
import { MemdirError } from "../../../src/shared/errors.ts";
import { PAGE_MOST } from "../../../src/shared/limits/http.ts";
import { CHANGES_WAIT_MS } from "../../../src/shared/limits/memory.ts";
import type { SyncEnv } from "../../env.ts";
import { headOf } from "./outcomes.ts";
import { restoreVersion, rewindStore } from "./requests.ts";
import { memoryShape, rewindShape, versionShape } from "./shapes.ts";
import {
  answered,
  changeOf,
  missingVersion,
  storeIdOf,
  storeOf,
  versionIdOf,
} from "./store-request.ts";

const STORE = "/v1/memory_stores/:id";

/** Restore a version, rewind a store, follow its changes. */
export function historyRoutes(): Hono<Edge<SyncEnv>> {
  const app = new Hono<Edge<SyncEnv>>();
  app.post(`${STORE}/memory_versions/:version/restore`, async (c) => {
    const store = storeOf(c);
    await jsonBody(c.req.raw, restoreVersion);
    const version = answered(await store.version(await versionIdOf(c), false));
    if (!version) throw missingVersion();
    if (version.sha256 === null) {
      throw new MemdirError(
        "invalid_request",
        version.redactedAt === null
          ? "This version is a deletion and holds no content. Restore the version before it"
          : "This version was redacted: its content is gone for good. Restore another one",
      );
    }
    const reply = answered(await store.restore(version.id, await changeOf(c)));
    if (reply.status === "conflict") {
      throw new MemdirError("conflict", "The memory was changed at the same moment. Try again");
    }
    return c.json(memoryShape(storeIdOf(c), headOf(reply), null));
  });

  app.post(`${STORE}/rewind`, async (c) => {
    const { value } = await jsonBody(c.req.raw, rewindStore);
    const store = storeOf(c);
    if (answered(await store.meta()).archivedAt !== null) {
      throw new MemdirError(
        "invalid_request",
        "This memory store is archived: its memories can be read and deleted, not rewound",
      );
    }
    const target =
      value.session_id === undefined
        ? { time: Date.parse(value.to ?? "") }
        : { sessionId: value.session_id };
    return c.json(rewindShape(answered(await store.rewind(target, await changeOf(c)))));
  });

  app.get(`${STORE}/changes`, async (c) => {
    const id = storeIdOf(c);
    const after = whole("after", c.req.query("after"), Number.MAX_SAFE_INTEGER);
    const wait = whole("wait", c.req.query("wait"), CHANGES_WAIT_MS / 1000);
    const limit = pageLimit(c.req.query("limit"), PAGE_MOST);
    const versions = answered(await storeOf(c).changes(after, limit, wait * 1000));
    return c.json({
      data: versions.map((version) => versionShape(id, version, false)),
      next: versions.at(-1)?.n ?? after,
    });
  });
  return app;
}

/** A whole number from 0 to the most; 0 where there is none. */
function whole(name: string, text: string | undefined, most: number): number {
  if (text === undefined) return 0;
  const value = Number(text);
  if (/^\d{1,16}$/.test(text) && value <= most) return value;
  throw new MemdirError(
    "invalid_request",
    `${name}: "${text.slice(0, 40)}" is not a whole number from 0 to ${most}`,
  );
}
