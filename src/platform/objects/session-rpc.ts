// What sessions ask of each other. All other calls come from their own worker.

import type { ExtractWork } from "../queue.ts";

/** `next` is another session that waits for the same memory. */
export type ExtractReply =
  | { status: "none" }
  /** It goes on by itself. */
  | { status: "running" }
  /** The memory is somebody else's just now; they know that this session waits. */
  | { status: "waiting" }
  | { status: "done"; next: string | null }
  | { status: "retry"; afterMs: number; next: string | null };

export interface SessionCalls {
  extract(work: Pick<ExtractWork, "store" | "upTo">): Promise<ExtractReply>;
}

/**
 * The object of a session. The owner is part of its name: another one's id leads to an object that
 * holds nothing.
 */
export function sessionObject(
  env: { SESSION: DurableObjectNamespace },
  { tenant, user }: { tenant: string; user: string },
  id: string,
) {
  return env.SESSION.get(env.SESSION.idFromName(JSON.stringify([tenant, user, id])));
}

/** A session as another one sees it. */
export function sessionPeer(
  env: { SESSION: DurableObjectNamespace },
  owner: { tenant: string; user: string },
  id: string,
): SessionCalls {
  return sessionObject(env, owner, id) as unknown as SessionCalls;
}
