import type { Context } from "hono";
import { Hono } from "hono";
import type { Edge } from "../../../src/platform/http/edge.ts";
import { pageCursor, pageLimit, readPageCursor } from "../../../src/platform/http/edge.ts";
import { httpEtag, isKnownEtag, preconditionOf } from "../../../src/platform/http/etag.ts";
import { bodyBytes } from "../../../src/platform/http/json-body.ts";
import { isWorkspaceId, workspaceMount } from "../../../src/platform/r2/mount-table.ts";
import { MemdirError } from "../../../src/shared/errors.ts";
import type { Mount } from "../../../src/shared/files/mounts.ts";
import type { WriteRefusal } from "../../../src/shared/files/write-file.ts";
import { deleteFile, writeFile } from "../../../src/shared/files/write-file.ts";
import { FILE_PAGE_MOST, WORKSPACE_FILE_BYTES } from "../../../src/shared/limits/files.ts";
import { canonicalRelative } from "../../../src/shared/safety/path.ts";
import type { SyncEnv } from "../../env.ts";

type WorkspaceRequest = Context<Edge<SyncEnv>>;

/** The files of a workspace, for the people and programs beside the agent. */
export function workspaceRoutes(): Hono<Edge<SyncEnv>> {
  const app = new Hono<Edge<SyncEnv>>();
  app.get("/v1/workspaces/:id/files", async (c) => {
    const { store } = mountOf(c);
    const limit = pageLimit(c.req.query("limit"), 100, FILE_PAGE_MOST);
    const after = readPageCursor(c.req.query("page"), pathCursor);
    const prefix = c.req.query("prefix") ?? "";
    if (prefix !== "" && !prefix.endsWith("/")) {
      throw new MemdirError("invalid_request", 'prefix: a folder, so it must end in "/"');
    }
    const folder = prefix === "" ? "" : `${relativePath(prefix)}/`;
    const page = await store.list({
      prefix: folder,
      limit,
      after,
    });
    return c.json({
      data: page.entries.map(({ path, size, etag }) => ({ path, size, etag })),
      next_page: page.next === undefined ? null : pageCursor(page.next),
    });
  });

  app.get("/v1/workspaces/:id/files/*", async (c) => {
    const path = pathOf(c);
    const file = await mountOf(c).store.get(path);
    if (!file) throw missing(path);
    const headers = { etag: httpEtag(file.etag), "content-type": "application/octet-stream" };
    if (isKnownEtag(c.req.raw.headers, file.etag)) {
      return new Response(null, { status: 304, headers });
    }
    return new Response(file.bytes, {
      headers: {
        ...headers,
        "content-disposition": "attachment",
        "x-content-type-options": "nosniff",
      },
    });
  });

  app.put("/v1/workspaces/:id/files/*", async (c) => {
    const path = pathOf(c);
    const mount = mountOf(c);
    const precondition = preconditionOf(c.req.raw.headers);
    const bytes = await bodyBytes(c.req.raw, WORKSPACE_FILE_BYTES);
    const outcome = await writeFile(mount, path, bytes, precondition);
    switch (outcome.status) {
      case "written": {
        const { size, etag } = outcome.entry;
        c.header("etag", httpEtag(etag));
        return c.json({ path, size, etag });
      }
      case "conflict":
        throw changed(path);
      case "refused":
        throw refusal(outcome, path);
    }
  });

  app.delete("/v1/workspaces/:id/files/*", async (c) => {
    const path = pathOf(c);
    const precondition = preconditionOf(c.req.raw.headers);
    if (precondition && "ifAbsent" in precondition) {
      throw new MemdirError("invalid_request", "If-None-Match: has no meaning for a deletion");
    }
    const outcome = await deleteFile(mountOf(c), path, precondition);
    switch (outcome.status) {
      case "deleted":
        return c.body(null, 204);
      case "missing":
        throw missing(path);
      case "conflict":
        throw changed(path);
      case "refused":
        throw refusal(outcome, path);
    }
  });
  return app;
}

function refusal({ reason, message }: WriteRefusal, path: string): MemdirError {
  switch (reason) {
    case "too_large":
      return new MemdirError("too_large", message, path);
    case "read_only":
      return new MemdirError("forbidden", message, path);
    case "root":
    case "file_above":
    case "files_below":
      return new MemdirError("invalid_request", message, path);
  }
}

function mountOf(c: WorkspaceRequest): Mount {
  const id = c.req.param("id") ?? "";
  if (isWorkspaceId(id)) return workspaceMount(c.env.FILES, c.get("principal"), id);
  throw new MemdirError(
    "invalid_request",
    "workspace id: use 1 to 64 letters, digits, dots, hyphens and underscores, a letter or digit first",
  );
}

/**
 * The path after `/v1/workspaces/<id>/files/`, decoded exactly once and canonical. Where a segment
 * before it was written in a way that only looks like it, there is no such endpoint.
 */
function pathOf(c: WorkspaceRequest): string {
  const { pathname } = new URL(c.req.url);
  const raw = /^\/v1\/workspaces\/[^/]+\/files\/(.*)$/s.exec(pathname)?.[1];
  if (raw === undefined) throw new MemdirError("not_found", "There is no such endpoint");
  let decoded: string;
  try {
    decoded = decodeURIComponent(raw);
  } catch {
    throw new MemdirError("invalid_request", "path: it is not percent-encoded UTF-8");
  }
  return relativePath(decoded);
}

function relativePath(raw: string): string {
  const path = canonicalRelative(raw);
  if (path.status === "ok") return path.path;
  throw new MemdirError("invalid_request", `path: ${path.message}`);
}

function missing(path: string): MemdirError {
  return new MemdirError("not_found", `There is no file "${path}" in this workspace`, path);
}

function changed(path: string): MemdirError {
  return new MemdirError(
    "precondition_failed",
    `"${path}" is not as the precondition says: it was changed, made or deleted meanwhile. Read it again`,
    path,
  );
}

function pathCursor(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
