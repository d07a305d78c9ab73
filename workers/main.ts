// The merge: one script of three workers that do not know each other.

import { createEdge, errorResponse } from "../src/platform/http/edge.ts";
import { errorName, log } from "../src/platform/log.ts";
import { consumeWork } from "../src/platform/queue.ts";
import { variablesOf } from "../src/platform/variables.ts";
import { MemdirError } from "../src/shared/errors.ts";
import { workHandler } from "./agent/http/consumer.ts";
import { eventRoutes } from "./agent/http/routes-events.ts";
import { memoryRoutes } from "./agent/http/routes-memory.ts";
import { notesRoutes } from "./agent/http/routes-notes.ts";
import { sessionRoutes } from "./agent/http/routes-sessions.ts";
import { usageRoutes } from "./agent/http/routes-usage.ts";
import { onSchedule } from "./dream/background.ts";
import type { Env } from "./env.ts";
import { storeRoutes } from "./sync/memory-stores/routes-stores.ts";
import { settingsRoutes } from "./sync/settings/routes-settings.ts";
import { workspaceRoutes } from "./sync/workspaces/routes-workspaces.ts";

export { Account } from "./agent/account/account.ts";
export { Session } from "./agent/session/session.ts";
export { Memdir } from "./sync/memdir/memdir.ts";

const api = createEdge<Env>((env) => {
  const variables = variablesOf(env);
  return {
    secret: variables.AUTH_SECRET,
    jwksUrl: variables.AUTH_JWKS_URL,
    issuer: variables.AUTH_ISSUER,
    audience: variables.AUTH_AUDIENCE,
  };
});
api.route("/", sessionRoutes());
api.route("/", eventRoutes());
api.route("/", memoryRoutes());
api.route("/", notesRoutes());
api.route("/", usageRoutes());
api.route("/", workspaceRoutes());
api.route("/", storeRoutes());
api.route("/", settingsRoutes());

export default {
  async fetch(request, env, ctx) {
    const { pathname } = new URL(request.url);
    if (pathname === "/health" && (request.method === "GET" || request.method === "HEAD")) {
      return health(env);
    }
    return api.fetch(request, env, ctx);
  },
  queue: (batch, env) => consumeWork(batch, workHandler(env)),
  scheduled: onSchedule,
} satisfies ExportedHandler<Env>;

/** 200 when the service can work; else 503 with the variable that is wrong, never its value. */
function health(env: Env): Response {
  try {
    const variables = variablesOf(env);
    if (variables.AUTH_SECRET === undefined && variables.AUTH_JWKS_URL === undefined) {
      throw new MemdirError("internal", "Neither AUTH_SECRET nor AUTH_JWKS_URL is set");
    }
    if (variables.ANTHROPIC_API_KEY === undefined) {
      throw new MemdirError("internal", "ANTHROPIC_API_KEY is not set");
    }
    return Response.json({ status: "ok" });
  } catch (error) {
    log("health.failed", { error: errorName(error) });
    const message = error instanceof MemdirError ? error.message : "The service cannot work";
    return errorResponse("unavailable", message, "req_health");
  }
}
