import { Hono } from "hono";
import * as z from "zod";
import type { Principal } from "../../../src/platform/http/auth.ts";
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
import { isId } from "../../../src/platform/ids.ts";
import { errorName, log } from "../../../src/platform/log.ts";
import type { ListedRow, SessionRow } from "../../../src/platform/objects/account-rpc.ts";
import { accountStub } from "../../../src/platform/objects/account-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { cutPage } from "../../../src/platform/page.ts";
import { variablesOf } from "../../../src/platform/variables.ts";
import { MemdirError } from "../../../src/shared/errors.ts";
import type { AgentEnv } from "../../env.ts";
import { customTools, toolsetPolicy } from "../contract/custom-tools.ts";
import { modeMetadata, modeOf } from "../contract/session-modes.ts";
import type { NewMeta } from "../rows/meta.ts";
import { listedShape } from "../session/session-shape.ts";
import { sessionStub } from "../session/stubs.ts";
import type { CreateBody } from "./requests.ts";
import { createBody, projectRoot } from "./requests.ts";

/** Create, list, get, archive, compact and delete sessions. */
export function sessionRoutes(): Hono<Edge<AgentEnv>> {
  const app = new Hono<Edge<AgentEnv>>();
  app.post("/v1/sessions", async (c) => {
    const principal = c.get("principal");
    const body = await jsonBody(c.req.raw, createBody);
    const now = Date.now();
    const account = accountStub(c.env, principal);
    const request = await requestKey(c.req.raw.headers, body.bytes);
    const fields = metaFields(c.env, principal, body.value);
    const row = unwrap(await account.reserve(request, now));
    const session = sessionStub(c.env, principal, row.id);
    const meta: NewMeta = {
      ...fields,
      id: row.id,
      createdAt: row.createdAt,
      updatedAt: row.createdAt,
    };
    const created = unwrap(await session.create(meta, body.value.initial_events ?? []));
    await account.ready(row.id, created.listed);
    c.executionCtx.waitUntil(clearAbandoned(c.env, principal, now));
    return c.json(created.shape);
  });

  app.get("/v1/sessions", async (c) => {
    const principal = c.get("principal");
    const query = (name: string) => c.req.query(name);
    const limit = pageLimit(query("limit"));
    const order = query("order") ?? "desc";
    if (order !== "asc" && order !== "desc") {
      throw new MemdirError("invalid_request", 'order: use "asc" or "desc"');
    }
    const rows = await accountStub(c.env, principal).list({
      limit: limit + 1,
      order,
      after: readPageCursor(query("page"), sessionRow),
      from: lowerBound(query),
      to: upperBound(query),
    });
    const { page, last } = cutPage(rows, limit);
    const now = Date.now();
    const all = await Promise.all(page.map((row) => listedOf(c.env, principal, row, now)));
    const archived = query("include_archived") === "true";
    const shown = all.flatMap((one) => (one && (archived || !one.archived) ? [one.json] : []));
    const next = JSON.stringify(last ? pageCursor([last.createdAt, last.id]) : null);
    return c.body(`{"data":[${shown.join(",")}],"next_page":${next},"prev_page":null}`, 200, {
      "content-type": "application/json",
    });
  });

  app.get("/v1/sessions/:id", async (c) => {
    const session = sessionStub(c.env, c.get("principal"), sessionId(c.req.param("id")));
    return c.json(unwrap(await session.retrieve()));
  });

  app.post("/v1/sessions/:id/archive", async (c) => {
    const session = sessionStub(c.env, c.get("principal"), sessionId(c.req.param("id")));
    return c.json(unwrap(await session.archive()));
  });

  app.post("/v1/sessions/:id/compact", async (c) => {
    const session = sessionStub(c.env, c.get("principal"), sessionId(c.req.param("id")));
    // It takes no instructions: a body is refused, not dropped in silence.
    const sent = c.req.raw.clone();
    if ((await sent.text()).trim() !== "") await jsonBody(c.req.raw, z.strictObject({}));
    return c.json(unwrap(await session.compact()));
  });

  app.delete("/v1/sessions/:id", async (c) => {
    const principal = c.get("principal");
    const id = sessionId(c.req.param("id"));
    const reply = await sessionStub(c.env, principal, id).destroy();
    // Also for a session that is gone: an earlier deletion may have died before this.
    if (reply.ok || reply.code === "not_found") await accountStub(c.env, principal).remove(id);
    unwrap(reply);
    return c.json({ id, type: "session_deleted" });
  });
  return app;
}

/** The id of a path, or the same 404 as for a session that does not exist. */
export function sessionId(text: string): string {
  if (isId("sesn", text)) return text;
  throw new MemdirError("not_found", "There is no such session");
}

function metaFields(env: AgentEnv, principal: Principal, body: CreateBody) {
  const place = projectRoot(body);
  if ("problem" in place) throw new MemdirError("invalid_request", place.problem);
  const overrides =
    typeof body.agent === "object" && body.agent.type === "agent_with_overrides"
      ? body.agent
      : undefined;
  const model = typeof overrides?.model === "object" ? overrides.model.id : overrides?.model;
  const { MODEL, PERMISSION_MODE } = variablesOf(env);
  const modes = modeMetadata.parse(body.metadata ?? {});
  const tools = overrides?.tools ?? [];
  return {
    tenant: principal.tenant,
    user: principal.user,
    role: principal.role,
    environmentId: body.environment_id,
    projectRoot: place.root,
    model: model ?? MODEL,
    system: overrides?.system ?? null,
    title: body.title ?? null,
    metadata: body.metadata ?? {},
    permissionMode: modeOf(modes.permission_mode, toolsetPolicy(tools), PERMISSION_MODE),
    midTurnMessages: modes.mid_turn_messages ?? ("queue" as const),
    clientTools: customTools(tools),
    archivedAt: null,
    deleting: false,
    activeMs: 0,
  };
}

/**
 * As the account knows it, or else as the session itself does. Undefined for one that is not shown or
 * cannot be read: it must not spoil the list.
 */
async function listedOf(env: AgentEnv, principal: Principal, row: ListedRow, now: number) {
  try {
    const listed = listedShape(row, now);
    if (listed !== "ask") return listed === "hidden" ? undefined : listed;
    const reply = await sessionStub(env, principal, row.id).retrieve();
    if (!reply.ok) return undefined;
    return { json: JSON.stringify(reply.value), archived: reply.value.archived_at !== null };
  } catch (error) {
    log("sessions.unreadable", { session: row.id, error: errorName(error) });
    return undefined;
  }
}

/** Clears creations that died between the account and the session. */
async function clearAbandoned(env: AgentEnv, principal: Principal, now: number): Promise<void> {
  const account = accountStub(env, principal);
  for (const id of await account.abandoned(now)) {
    await sessionStub(env, principal, id).destroy();
    await account.remove(id);
  }
}

function sessionRow(value: unknown): SessionRow | undefined {
  if (!Array.isArray(value)) return undefined;
  const [createdAt, id]: unknown[] = value;
  return typeof createdAt === "number" && typeof id === "string" ? { createdAt, id } : undefined;
}
