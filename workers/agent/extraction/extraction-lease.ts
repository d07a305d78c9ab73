// The lease under which a session extracts: one run at a time in a memory, whoever asks.

import { errorName, log } from "../../../src/platform/log.ts";
import type { MemdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { MemdirError } from "../../../src/shared/errors.ts";
import { noteExtraction, noteLeaseGiven } from "../rows/extraction-state.ts";
import type { Meta } from "../rows/meta.ts";
import type { SessionContext } from "../setup/session-context.ts";

/** The right to extract into one memory. */
export interface Lease {
  stub: MemdirStub;
  token: number;
  /** The newest change of the memory when it was given. */
  at: number;
}

/** The lease; undefined where it is somebody else's, who knows now that this session waits. */
export async function takeLease(
  session: SessionContext,
  stub: MemdirStub,
  meta: Meta,
): Promise<Lease | undefined> {
  const { LEASE_MS } = session.settings;
  // By its own name: one that a crash left behind is the session's again at once, also where it never
  // learned its token, and what the older token still writes is refused.
  const reply = unwrap(await stub.acquire("extraction", meta.id, LEASE_MS, meta.id));
  const lease = reply.status === "granted" ? { stub, token: reply.token, at: reply.at } : undefined;
  noteExtraction(session.sql, { lease: lease?.token ?? null });
  return lease;
}

/** Gives it back and learns who waits. Where that fails the next queue message tries it again. */
export async function giveLease(
  session: SessionContext,
  { stub, token }: Pick<Lease, "stub" | "token">,
): Promise<string | null> {
  try {
    const next = unwrap(await stub.release("extraction", token));
    noteLeaseGiven(session.sql);
    return next;
  } catch (error) {
    if (error instanceof MemdirError && error.code === "not_found") {
      noteLeaseGiven(session.sql);
    }
    log("extraction.lease_kept", { error: errorName(error) });
    return null;
  }
}

/** Throws `not_found` where nothing can be saved any more: the store is archived, or gone. */
export async function requireStore(stub: MemdirStub): Promise<void> {
  if (unwrap(await stub.meta()).archivedAt === null) return;
  throw new MemdirError("not_found", "The memory store is archived");
}
