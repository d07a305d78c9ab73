// A store's history, as tests write and read it.

import type { MemdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import type { Receipt } from "../../../src/shared/files/receipt.ts";

/** Who writes in these tests. */
export const actor = { type: "user", userId: "u" } as const;

export async function putText(stub: MemdirStub, path: string, text: string): Promise<Receipt> {
  const bytes = new TextEncoder().encode(text);
  const reply = unwrap(await stub.write({ path, bytes, actor }));
  if (reply.status !== "written") throw new Error(reply.status);
  return reply.receipt;
}

/** The contents of all versions, newest first; undefined for a deletion or a redacted one. */
export async function historyOf(stub: MemdirStub): Promise<(string | undefined)[]> {
  const versions = unwrap(await stub.versions({ limit: 100, withContent: true }));
  return versions.map(({ bytes }) => (bytes ? new TextDecoder().decode(bytes) : undefined));
}
