import type { Context } from "hono";
import { Hono } from "hono";
import type { Edge } from "../../../src/platform/http/edge.ts";
import { pageCursor, pageLimit, readPageCursor } from "../../../src/platform/http/edge.ts";
import type { Reply } from "../../../src/platform/objects/reply.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import type { AgentEnv } from "../../env.ts";
import type { RecordPage } from "../session/session-reads.ts";
import { sessionStub } from "../session/stubs.ts";
import { sessionId } from "./routes-sessions.ts";

/** What a session remembered and saved by itself, and why: its searches and its extraction runs. */
export function memoryRoutes(): Hono<Edge<AgentEnv>> {
  const app = new Hono<Edge<AgentEnv>>();
  app.get("/v1/sessions/:id/recalls", async (c) => {
    const session = sessionStub(c.env, c.get("principal"), sessionId(c.req.param("id")));
    return page(c, (limit, cursor) => session.recalls({ after: cursor ?? 0, limit }));
  });

  app.get("/v1/sessions/:id/extractions", async (c) => {
    const session = sessionStub(c.env, c.get("principal"), sessionId(c.req.param("id")));
    return page(c, (limit, cursor) => session.extractions({ limit, before: cursor }));
  });
  return app;
}

async function page(
  c: Context<Edge<AgentEnv>>,
  read: (limit: number, cursor: number | undefined) => Promise<Reply<RecordPage>>,
): Promise<Response> {
  const limit = pageLimit(c.req.query("limit"));
  const { data, next } = unwrap(
    await read(limit, readPageCursor(c.req.query("page"), recordCursor)),
  );
  return c.json({ data, next_page: next === undefined ? null : pageCursor([next]) });
}

function recordCursor(value: unknown): number | undefined {
  if (!Array.isArray(value)) return undefined;
  const [first]: unknown[] = value;
  return typeof first === "number" ? first : undefined;
}
