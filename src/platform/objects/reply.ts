import type { ErrorCode } from "../../shared/errors.ts";
import { MemdirError } from "../../shared/errors.ts";

/**
 * What an object answers to a call from the edge. A value, not a throw: an error that crosses a call
 * between objects loses its class and may lose its code.
 */
export type Reply<T> = { ok: true; value: T } | { ok: false; code: ErrorCode; message: string };

/** A successful reply. */
export function done<T>(value: T): Reply<T> {
  return { ok: true, value };
}

/** A failed reply. */
export function refused<T>(code: ErrorCode, message: string): Reply<T> {
  return { ok: false, code, message };
}

/** The value of a reply; throws a failed one as what it was. */
export function unwrap<T>(reply: Reply<T>): T {
  if (reply.ok) return reply.value;
  throw new MemdirError(reply.code, reply.message);
}

/** Answers with what `work` gives; an expected failure becomes a reply, a defect stays a throw. */
export async function replyWith<T>(work: () => T | Promise<T>): Promise<Reply<T>> {
  try {
    return done(await work());
  } catch (error) {
    if (error instanceof MemdirError) return refused(error.code, error.message);
    throw error;
  }
}
