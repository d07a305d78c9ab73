// What every HTTP route shares: who calls, how errors look, how a client asks for pages.

import type { Context } from "hono";
import { Hono } from "hono";
import type { ErrorCode } from "../../shared/errors.ts";
import { MemdirError } from "../../shared/errors.ts";
import { sha256Hex } from "../../shared/files/digest.ts";
import { IDEMPOTENCY_KEY_CHARACTERS, PAGE_DEFAULT, PAGE_MOST } from "../../shared/limits/http.ts";
import { errorName, log } from "../log.ts";
import type { Principal, TokenRules } from "./auth.ts";
import { principalOf } from "./auth.ts";

/** A route's surroundings: the bindings that its worker sees, and the caller. */
export type Edge<Bindings extends object> = {
  Bindings: Bindings;
  Variables: { principal: Principal; requestId: string };
};

/** Routes behind a token. Every path below them answers 401 without one. */
export function createEdge<Bindings extends object>(
  rules: (env: Bindings) => TokenRules,
): Hono<Edge<Bindings>> {
  const app = new Hono<Edge<Bindings>>();
  app.use(async (c, next) => {
    c.set("requestId", `req_${crypto.randomUUID().replaceAll("-", "")}`);
    const principal = await principalOf(c.req.raw.headers, rules(c.env));
    if (!principal) {
      throw new MemdirError(
        "unauthenticated",
        "No valid token. Send `Authorization: Bearer <JWT>` with the claims org, sub and exp",
      );
    }
    c.set("principal", principal);
    await next();
    // Not `c.header`, which makes the response anew, with its body as a stream.
    c.res.headers.set("request-id", c.get("requestId"));
  });
  app.notFound((c) => errorResponse("not_found", "There is no such endpoint", requestId(c)));
  app.onError((error, c) => {
    const id = requestId(c);
    if (error instanceof WireError) {
      return errorResponse(error.code, error.message, id, error.wire);
    }
    if (error instanceof MemdirError) return errorResponse(error.code, error.message, id);
    log("edge.failed", { request: id, error: errorName(error) });
    return errorResponse("internal", "Something failed on our side. Try again", id);
  });
  return app;
}

/** How an error looks outside where its code does not say it all: the SDK's type, and its fields. */
export interface Wire {
  type: string;
  fields?: Record<string, string> | undefined;
}

/** An expected failure with a type of its own on the wire; the status is that of the code. */
export class WireError extends MemdirError {
  readonly wire: Wire;

  constructor(code: ErrorCode, message: string, wire: Wire) {
    super(code, message);
    this.wire = wire;
  }
}

/** An error in the shape of the contract. */
export function errorResponse(code: ErrorCode, message: string, id: string, wire?: Wire): Response {
  const { status, type } = WIRE[code];
  const headers = new Headers({ "content-type": "application/json", "request-id": id });
  // The SDK retries a 409 unless this forbids it; ours never gets better by itself.
  if (status === 409) headers.set("x-should-retry", "false");
  return Response.json(
    {
      type: "error",
      error: { type: wire?.type ?? type, message, ...wire?.fields },
      request_id: id,
    },
    { status, headers },
  );
}

const WIRE: Record<ErrorCode, { status: number; type: string }> = {
  invalid_request: { status: 400, type: "invalid_request_error" },
  unauthenticated: { status: 401, type: "authentication_error" },
  forbidden: { status: 403, type: "permission_error" },
  not_found: { status: 404, type: "not_found_error" },
  conflict: { status: 409, type: "conflict_error" },
  precondition_failed: { status: 412, type: "precondition_failed_error" },
  too_large: { status: 413, type: "request_too_large" },
  unavailable: { status: 503, type: "overloaded_error" },
  internal: { status: 500, type: "api_error" },
};

/** `limit` of a list: a whole number from 1 to the most, else `invalid_request`. */
export function pageLimit(
  text: string | undefined,
  fallback: number = PAGE_DEFAULT,
  most: number = PAGE_MOST,
): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (/^\d{1,9}$/.test(text) && value >= 1 && value <= most) return value;
  throw new MemdirError(
    "invalid_request",
    `limit: "${text.slice(0, 40)}" is not a whole number from 1 to ${most}`,
  );
}

/** A page cursor of our own making; opaque to clients. */
export function pageCursor(value: unknown): string {
  return new TextEncoder().encode(JSON.stringify(value)).toBase64({ alphabet: "base64url" });
}

/** What a page cursor holds. Throws `invalid_request` for one that we did not make. */
export function readPageCursor<T>(
  text: string | undefined,
  parse: (value: unknown) => T | undefined,
): T | undefined {
  if (text === undefined || text === "") return undefined;
  try {
    const bytes = Uint8Array.fromBase64(text, { alphabet: "base64url" });
    const value = parse(JSON.parse(new TextDecoder().decode(bytes)));
    if (value !== undefined) return value;
  } catch {
    // Falls through to the refusal.
  }
  throw new MemdirError(
    "invalid_request",
    "page: this is not a cursor of this list. Use the next_page of the page before, or none",
  );
}

/** A time in a query, in milliseconds. */
function timeParameter(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = Date.parse(text);
  if (Number.isFinite(time)) return time;
  throw new MemdirError(
    "invalid_request",
    `${name}: "${text.slice(0, 40)}" is not a time. Use RFC 3339, such as 2026-01-31T09:00:00Z`,
  );
}

/** The least time of `created_at[gte]` and `created_at[gt]`, in milliseconds, inclusive. */
export function lowerBound(query: (name: string) => string | undefined): number | undefined {
  const inclusive = timeParameter("created_at[gte]", query("created_at[gte]"));
  const exclusive = timeParameter("created_at[gt]", query("created_at[gt]"));
  if (exclusive === undefined) return inclusive;
  return Math.max(exclusive + 1, inclusive ?? Number.NEGATIVE_INFINITY);
}

/** The greatest time of `created_at[lte]` and `created_at[lt]`, in milliseconds, inclusive. */
export function upperBound(query: (name: string) => string | undefined): number | undefined {
  const inclusive = timeParameter("created_at[lte]", query("created_at[lte]"));
  const exclusive = timeParameter("created_at[lt]", query("created_at[lt]"));
  if (exclusive === undefined) return inclusive;
  return Math.min(exclusive - 1, inclusive ?? Number.POSITIVE_INFINITY);
}

/** The request's `Idempotency-Key`, if it has one, and the SHA-256 of the body that it was sent with. */
export async function requestKey(
  headers: Headers,
  body: Uint8Array,
): Promise<{ key: string; hash: string } | undefined> {
  const key = headers.get("idempotency-key");
  if (key === null) return undefined;
  if (key.length >= 1 && key.length <= IDEMPOTENCY_KEY_CHARACTERS) {
    return { key, hash: await sha256Hex(body) };
  }
  throw new MemdirError(
    "invalid_request",
    `Idempotency-Key: ${key.length} characters; it may have 1 to ${IDEMPOTENCY_KEY_CHARACTERS}`,
  );
}

function requestId(c: Context): string {
  const id: unknown = c.get("requestId");
  return typeof id === "string" ? id : "req_unknown";
}
