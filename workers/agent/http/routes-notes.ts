import type { Context } from "hono";
import { Hono } from "hono";
import * as z from "zod";
import type { Edge } from "../../../src/platform/http/edge.ts";
import { httpEtag, isKnownEtag, preconditionOf } from "../../../src/platform/http/etag.ts";
import { jsonBody } from "../../../src/platform/http/json-body.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import type { AgentEnv } from "../../env.ts";
import type { NotesPage } from "../notes/notes-page.ts";
import { sessionStub } from "../session/stubs.ts";
import { sessionId } from "./routes-sessions.ts";

const PATH = "/v1/sessions/:id/notes";
const notesBody = z.strictObject({ notes: z.string() });

/** The notes that a session keeps of itself, to be read and corrected by its person. */
export function notesRoutes(): Hono<Edge<AgentEnv>> {
  const app = new Hono<Edge<AgentEnv>>();
  app.get(PATH, async (c) => {
    const session = sessionStub(c.env, c.get("principal"), sessionId(c.req.param("id")));
    const page = unwrap(await session.notes());
    if (!isKnownEtag(c.req.raw.headers, page.etag)) return answer(c, page);
    return new Response(null, { status: 304, headers: { etag: httpEtag(page.etag) } });
  });

  app.put(PATH, async (c) => {
    const session = sessionStub(c.env, c.get("principal"), sessionId(c.req.param("id")));
    const precondition = preconditionOf(c.req.raw.headers);
    const { value } = await jsonBody(c.req.raw, notesBody);
    return answer(c, unwrap(await session.putNotes(value.notes, precondition)));
  });
  return app;
}

function answer(c: Context<Edge<AgentEnv>>, { body, etag }: NotesPage): Response {
  c.header("etag", httpEtag(etag));
  return c.json(body);
}
