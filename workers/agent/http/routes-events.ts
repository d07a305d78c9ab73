import { Hono } from "hono";
import type { Edge } from "../../../src/platform/http/edge.ts";
import {
  lowerBound,
  pageLimit,
  readPageCursor,
  requestKey,
  upperBound,
} from "../../../src/platform/http/edge.ts";
import { jsonBody } from "../../../src/platform/http/json-body.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { MemdirError } from "../../../src/shared/errors.ts";
import { previewedType } from "../../../src/shared/events/preview.ts";
import { EVENT_PAGE_DEFAULT, EVENT_PAGE_MOST } from "../../../src/shared/limits/http.ts";
import type { AgentEnv } from "../../env.ts";
import { sessionStub } from "../session/stubs.ts";
import { sendBody } from "./requests.ts";
import { sessionId } from "./routes-sessions.ts";

/** Types whose events have previews. */
const PREVIEWED: readonly string[] = previewedType.options;

/** Send, list and stream the events of a session. */
export function eventRoutes(): Hono<Edge<AgentEnv>> {
  const app = new Hono<Edge<AgentEnv>>();
  app.post("/v1/sessions/:id/events", async (c) => {
    const id = sessionId(c.req.param("id"));
    const body = await jsonBody(c.req.raw, sendBody);
    const request = await requestKey(c.req.raw.headers, body.bytes);
    const session = sessionStub(c.env, c.get("principal"), id);
    return json(`{"data":[${unwrap(await session.send(body.value.events, request)).join(",")}]}`);
  });

  app.get("/v1/sessions/:id/events", async (c) => {
    const id = sessionId(c.req.param("id"));
    const query = (name: string) => c.req.query(name);
    const order = query("order") ?? "asc";
    if (order !== "asc" && order !== "desc") {
      throw new MemdirError("invalid_request", 'order: use "asc" or "desc"');
    }
    const limit = pageLimit(query("limit"), EVENT_PAGE_DEFAULT, EVENT_PAGE_MOST);
    const cursor = readPageCursor(query("page"), eventCursor);
    if (cursor && cursor.order !== order) {
      throw new MemdirError("invalid_request", "page: this cursor belongs to the other order");
    }
    const types = [...(c.req.queries("types[]") ?? []), ...(c.req.queries("types") ?? [])];
    const page = unwrap(
      await sessionStub(c.env, c.get("principal"), id).events({
        order,
        limit,
        types,
        after: order === "asc" ? cursor?.seq : undefined,
        before: order === "desc" ? cursor?.seq : undefined,
        from: lowerBound(query),
        to: upperBound(query),
      }),
    );
    return json(page);
  });

  app.get("/v1/sessions/:id/events/stream", async (c) => {
    const id = sessionId(c.req.param("id"));
    const previews = [
      ...(c.req.queries("event_deltas[]") ?? []),
      ...(c.req.queries("event_deltas") ?? []),
    ];
    const wrong = previews.find((type) => !PREVIEWED.includes(type));
    if (wrong !== undefined) {
      throw new MemdirError(
        "invalid_request",
        `event_deltas: "${wrong.slice(0, 60)}" has no previews. There is: ${PREVIEWED.join(", ")}`,
      );
    }
    // Browsers send a header that was never set as an empty one.
    const cursor = c.req.header("last-event-id") || c.req.query("after") || undefined;
    const session = sessionStub(c.env, c.get("principal"), id);
    const stream = unwrap(await session.stream({ cursor, previews }));
    return new Response(stream, {
      headers: {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-cache, no-transform",
        "x-accel-buffering": "no",
      },
    });
  });
  return app;
}

function json(body: string | ReadableStream<Uint8Array>): Response {
  return new Response(body, { headers: { "content-type": "application/json" } });
}

function eventCursor(value: unknown): { order: string; seq: number } | undefined {
  if (!Array.isArray(value)) return undefined;
  const [order, seq]: unknown[] = value;
  return typeof order === "string" && typeof seq === "number" ? { order, seq } : undefined;
}
