import { Hono } from "hono";
import { nextUtcDay, utcDay } from "../../../src/platform/budget.ts";
import type { Principal } from "../../../src/platform/http/auth.ts";
import type { Edge } from "../../../src/platform/http/edge.ts";
import type { AccountStub, UsageTotal } from "../../../src/platform/objects/account-rpc.ts";
import { accountStub } from "../../../src/platform/objects/account-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { variablesOf } from "../../../src/platform/variables.ts";
import { MemdirError } from "../../../src/shared/errors.ts";
import type { AgentEnv } from "../../env.ts";
import { microdollars } from "../rows/usage.ts";
import { sessionStub } from "../session/stubs.ts";
import { sessionId } from "./routes-sessions.ts";

/** What the caller's model requests took and cost. */
export function usageRoutes(): Hono<Edge<AgentEnv>> {
  const app = new Hono<Edge<AgentEnv>>();
  app.get("/v1/usage", async (c) => {
    const principal = c.get("principal");
    const from = dayParameter("from", c.req.query("from"));
    const to = dayParameter("to", c.req.query("to"));
    const session = c.req.query("session_id");
    const id = session === undefined ? undefined : sessionId(session);
    const account = accountStub(c.env, principal);
    const [totals, budget] = await Promise.all([
      account.usage({ sessionId: id, from, to }),
      dailyBudget(account, variablesOf(c.env).DAILY_TOKEN_BUDGET, Date.now()),
    ]);
    if (id !== undefined && totals.length === 0) await requireSession(c.env, principal, id);
    return c.json({ data: totals.map(usageShape), daily_budget: budget });
  });
  return app;
}

function usageShape(total: UsageTotal): Record<string, unknown> {
  return {
    purpose: total.purpose,
    model: total.model,
    requests: total.requests,
    input_tokens: total.input,
    cache_read_input_tokens: total.cacheRead,
    cache_creation_input_tokens: total.cacheCreation,
    output_tokens: total.output,
    cost_usd: Math.round(microdollars(total.model, total)) / 1_000_000,
  };
}

async function dailyBudget(account: AccountStub, tokens: number | undefined, now: number) {
  if (tokens === undefined) return null;
  const used = await account.tokensOn(utcDay(now));
  return { tokens, used, resets_at: new Date(nextUtcDay(now)).toISOString() };
}

/**
 * Refuses a session that never was. A live one need not have asked a model yet; of a deleted one the
 * account knows what it took. The account comes last: a session that is deleted meanwhile has
 * reported to it before.
 */
async function requireSession(env: AgentEnv, principal: Principal, id: string): Promise<void> {
  const reply = await sessionStub(env, principal, id).retrieve();
  if (reply.ok) return;
  const known = await accountStub(env, principal).usage({ sessionId: id });
  if (known.length === 0) unwrap(reply);
}

/** A UTC day of a query. Throws `invalid_request` for what no calendar has. */
function dayParameter(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) {
    const time = Date.parse(`${text}T00:00:00Z`);
    if (Number.isFinite(time) && utcDay(time) === text) return text;
  }
  throw new MemdirError(
    "invalid_request",
    `${name}: "${text.slice(0, 40)}" is not a day. Use YYYY-MM-DD in UTC, such as 2026-01-31`,
  );
}
