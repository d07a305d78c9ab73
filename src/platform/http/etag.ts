// Conditional requests: which version a client says that it knows, and how it learns of one.

import { MemdirError } from "../../shared/errors.ts";
import type { Precondition } from "../../shared/files/store.ts";

/**
 * `If-Match` and `If-None-Match: *` of a write; one etag, quoted or not, weak mark ignored. Throws
 * `invalid_request` for what a write cannot hold to.
 */
export function preconditionOf(headers: Headers): Precondition | undefined {
  const match = headers.get("if-match");
  const none = headers.get("if-none-match");
  if (none !== null && none.trim() !== "*") {
    throw new MemdirError("invalid_request", 'If-None-Match: only "*" is supported for a write');
  }
  if (match !== null && none !== null) {
    throw new MemdirError("invalid_request", "If-Match and If-None-Match: send one of them");
  }
  if (none !== null) return { ifAbsent: true };
  if (match === null) return undefined;
  const [etag, ...more] = storedEtags(match);
  if (etag === undefined || more.length > 0 || etag === "*") {
    throw new MemdirError("invalid_request", "If-Match: send the one ETag that you read");
  }
  return { ifMatch: etag };
}

/** Whether a reader's `If-None-Match` names this stored etag: the answer is a 304. */
export function isKnownEtag(headers: Headers, etag: string): boolean {
  const known = storedEtags(headers.get("if-none-match") ?? "");
  return known.includes(etag) || known.includes("*");
}

/** A stored etag as the `ETag` header has it. */
export function httpEtag(etag: string): string {
  return `"${etag}"`;
}

function storedEtags(header: string): string[] {
  return header
    .split(",")
    .map((part) => part.trim().replace(/^W\//, "").replaceAll('"', ""))
    .filter((etag) => etag !== "");
}
