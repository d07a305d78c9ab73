import { Hono } from "hono";
import type { Edge } from "../../../src/platform/http/edge.ts";
import { pageCursor, pageLimit, readPageCursor } from "../../../src/platform/http/edge.ts";
import { jsonBody } from "../../../src/platform/http/json-body.ts";
import type { MemdirStub, MemoryHead } from "../../../src/platform/objects/memdir-rpc.ts";
import { MemdirError } from "../../../src/shared/errors.ts";
import { PAGE_DEFAULT, PAGE_MOST } from "../../../src/shared/limits/http.ts";
import { FULL_PAGE_MOST } from "../../../src/shared/limits/memory.ts";
import type { SyncEnv } from "../../env.ts";
import { listMemories } from "./list-memories.ts";
import { memoryPath, memoryPrefix } from "./memory-path.ts";
import { checkRemoved, createdHead, headOf } from "./outcomes.ts";
import { createMemory, isContentHash, updateMemory } from "./requests.ts";
import { memoryShape } from "./shapes.ts";
import {
  answered,
  changeOf,
  memoryIdOf,
  missingMemory,
  storeIdOf,
  storeOf,
  wantsContent,
} from "./store-request.ts";

const MEMORIES = "/v1/memory_stores/:id/memories";
const encoder = new TextEncoder();

/** Create, list, get, update and delete the memories of a store. */
export function memoryRoutes(): Hono<Edge<SyncEnv>> {
  const app = new Hono<Edge<SyncEnv>>();
  app.post(MEMORIES, async (c) => {
    const full = wantsContent(c, "basic");
    const { value } = await jsonBody(c.req.raw, createMemory);
    const path = memoryPath(value.path, "path");
    const bytes = encoder.encode(value.content);
    const condition = { ifAbsent: true as const };
    const request = { path, bytes, condition, ...(await changeOf(c)) };
    const head = createdHead(answered(await storeOf(c).write(request)));
    return c.json(memoryShape(storeIdOf(c), head, full ? bytes : null));
  });

  app.get(MEMORIES, async (c) => {
    const store = storeOf(c);
    const full = wantsContent(c, "basic");
    const most = full ? FULL_PAGE_MOST : PAGE_MOST;
    const limit = pageLimit(c.req.query("limit"), Math.min(PAGE_DEFAULT, most), most);
    const prefix = memoryPrefix(c.req.query("path_prefix"), "path_prefix");
    const depth = depthOf(c.req.query("depth"));
    const after = readPageCursor(c.req.query("page"), (value) =>
      typeof value === "string" && value !== prefix && value.startsWith(prefix) ? value : undefined,
    );
    const page = await listMemories(store, { prefix, depth, limit, after });
    const id = storeIdOf(c);
    const data = await Promise.all(
      page.items.map((item) =>
        item.head === undefined
          ? { type: "memory_prefix", path: `/${item.at}` }
          : listed(store, id, item.head, full),
      ),
    );
    return c.json({
      data: data.filter((item) => item !== undefined),
      next_page: page.next === null ? null : pageCursor(page.next),
    });
  });

  app.get(`${MEMORIES}/:memory`, async (c) => {
    const full = wantsContent(c, "full");
    const memory = answered(await storeOf(c).readById(await memoryIdOf(c)));
    if (!memory) throw missingMemory();
    return c.json(memoryShape(storeIdOf(c), memory, full ? memory.bytes : null));
  });

  app.post(`${MEMORIES}/:memory`, async (c) => {
    const store = storeOf(c);
    const full = wantsContent(c, "basic");
    const { value } = await jsonBody(c.req.raw, updateMemory);
    const { content, precondition } = value;
    const request = {
      id: await memoryIdOf(c),
      ...(await changeOf(c)),
      bytes: typeof content === "string" ? encoder.encode(content) : undefined,
      path: typeof value.path === "string" ? memoryPath(value.path, "path") : undefined,
      ifMatch: precondition?.content_sha256,
    };
    const head = headOf(answered(await store.update(request)));
    return c.json(
      (await listed(store, storeIdOf(c), head, full)) ?? memoryShape(storeIdOf(c), head, null),
    );
  });

  app.delete(`${MEMORIES}/:memory`, async (c) => {
    const id = await memoryIdOf(c);
    const expected = c.req.query("expected_content_sha256");
    if (expected !== undefined && !isContentHash(expected)) {
      throw new MemdirError(
        "invalid_request",
        "expected_content_sha256: is not a SHA-256 in 64 lowercase hexadecimal characters",
      );
    }
    const request = { id, ...(await changeOf(c)), ifMatch: expected };
    checkRemoved(answered(await storeOf(c).remove(request)));
    return c.json({ id, type: "memory_deleted" });
  });
  return app;
}

/** With content the memory as it is at this moment; undefined where it is gone meanwhile. */
async function listed(store: MemdirStub, storeId: string, head: MemoryHead, full: boolean) {
  if (!full) return memoryShape(storeId, head, null);
  const memory = answered(await store.readById(head.id));
  return memory ? memoryShape(storeId, memory, memory.bytes) : undefined;
}

function depthOf(text: string | undefined): 0 | 1 {
  if (text === undefined || text === "0") return 0;
  if (text === "1") return 1;
  throw new MemdirError("invalid_request", "depth: use 0 (everything below) or 1 (children only)");
}
