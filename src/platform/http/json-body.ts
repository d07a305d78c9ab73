// Reads a request's body: within bounds, parsed once. A refusal names the place of what is wrong.

import type * as z from "zod";
import { MemdirError } from "../../shared/errors.ts";
import {
  DROPPED_BODY_BYTES,
  REQUEST_BODY_BYTES,
  REQUEST_BODY_DEPTH,
} from "../../shared/limits/http.ts";
import { whereHalved } from "../../shared/text/unreadable.ts";

export interface Body<T> {
  value: T;
  /** As they were sent. */
  bytes: Uint8Array;
}

/** The body as this schema has it. Throws `too_large` or `invalid_request`, naming the field. */
export async function jsonBody<T>(request: Request, schema: z.ZodType<T>): Promise<Body<T>> {
  const bytes = await bodyBytes(request, REQUEST_BODY_BYTES);
  const value = parseJson(bytes);
  const problem = textProblem(value);
  if (problem) throw new MemdirError("invalid_request", problem);
  const result = schema.safeParse(value);
  if (!result.success) throw new MemdirError("invalid_request", firstIssue(result.error, value));
  return { value: result.data, bytes };
}

/**
 * All bytes of a body of at most `limit`. Before it refuses a larger one it reads on and drops the
 * rest, within bounds: an answer to a client that still sends may reset the connection, and the
 * client would not see why.
 */
export async function bodyBytes(request: Request, limit: number): Promise<Uint8Array> {
  // A body whose length is known to fit is read in one go.
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) <= limit) {
    const bytes = new Uint8Array(await request.arrayBuffer());
    if (bytes.length > limit) throw tooLarge(bytes.length, limit);
    return bytes;
  }
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of request.body ?? []) {
    size += part.length;
    if (size <= limit) parts.push(part);
    else parts.length = 0;
    if (size > limit + DROPPED_BODY_BYTES) break;
  }
  if (size > limit) throw tooLarge(size, limit);
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes));
  } catch {
    throw new MemdirError(
      "invalid_request",
      bytes.length === 0
        ? "The body is empty; send a JSON object"
        : "The body is not valid JSON in UTF-8",
    );
  }
}

/** What is wrong with the strings or the nesting of a value, if anything; never recurses deeply. */
function textProblem(root: unknown): string | undefined {
  const left: { value: unknown; path: string; depth: number }[] = [
    { value: root, path: "", depth: 0 },
  ];
  for (let item = left.pop(); item; item = left.pop()) {
    const { value, path, depth } = item;
    if (depth > REQUEST_BODY_DEPTH) {
      return `${path.slice(0, 80)}…: nested more than ${REQUEST_BODY_DEPTH} levels deep`;
    }
    if (typeof value === "string" && !value.isWellFormed()) {
      return `${path}: holds half of a surrogate pair at ${whereHalved(value)}, which is not a character. Send whole characters`;
    }
    if (typeof value !== "object" || value === null) continue;
    for (const [key, child] of Object.entries(value)) {
      if (!key.isWellFormed()) return `${path}: a key holds half of a surrogate pair`;
      left.push({ value: child, path: path === "" ? key : `${path}.${key}`, depth: depth + 1 });
    }
  }
  return undefined;
}

function firstIssue(error: z.ZodError, value: unknown): string {
  const issue = deepest(error.issues[0], value);
  if (!issue) return "The body does not have the right shape";
  const path = issue.path.join(".");
  return path === "" ? issue.message : `${path}: ${issue.message}`;
}

interface Issue {
  path: PropertyKey[];
  message: string;
}

/** Of a union's many complaints, the one of the member that came nearest to fitting. */
function deepest(issue: z.core.$ZodIssue | undefined, value: unknown): Issue | undefined {
  if (issue?.code !== "invalid_union") return issue;
  const inner = issue.errors.flat().map((one) => deepest(one, value));
  const best = inner
    .filter((one) => one !== undefined)
    .toSorted((a, b) => b.path.length - a.path.length)[0];
  if (!best || best.path.length === 0) return issue;
  return { path: [...issue.path, ...best.path], message: best.message };
}

function tooLarge(size: number, limit: number): MemdirError {
  return new MemdirError(
    "too_large",
    `The body is ${size} bytes or more; the limit is ${limit}. Send it in smaller pieces`,
  );
}
