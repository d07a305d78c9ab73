// Memories with a long history, by the functions that write a real one; only the middle of it never
// was in R2, and the times are chosen.

import { newId } from "../../../src/platform/ids.ts";
import type { Actor } from "../../../src/platform/objects/memdir-rpc.ts";
import { sha256Hex } from "../../../src/shared/files/digest.ts";
import { addContent, type Content } from "../../../workers/sync/memdir/contents.ts";
import type { Directory } from "../../../workers/sync/memdir/directory.ts";
import { addVersion } from "../../../workers/sync/memdir/versions.ts";
import { write } from "../../../workers/sync/memdir/write.ts";

export interface History {
  memories: number;
  /** Of all memories together; they are changed in turn. */
  versions: number;
  /** Bytes of each version. */
  size: number;
  /** Time of the first version, in milliseconds; the newest ones are of now. */
  from: number;
}

const actor: Actor = { type: "user", userId: "bench" };
/** Versions in one transaction. */
const AT_ONCE = 100;

/** Adds the memories: of each only the first and the last version go the whole way. */
export async function makeVersions(dir: Directory, history: History): Promise<void> {
  const { memories, versions, size, from } = history;
  const step = (dir.now() - from) / versions;
  const ids: string[] = [];
  const put = async (n: number, now: () => number) => {
    const request = { path: pathOf(n % memories), bytes: contentOf(n, size), actor };
    const reply = await write({ ...dir, now }, request);
    if (reply.status !== "written") throw new Error(`Version ${n} was ${reply.status}`);
    ids[n % memories] = reply.receipt.memoryId;
  };
  const last = versions - memories;
  for (let n = 0; n < memories; n += 1) await put(n, () => from);
  for (let n = memories; n < last; n += AT_ONCE) {
    const made: NewVersion[] = [];
    for (let m = n; m < Math.min(last, n + AT_ONCE); m += 1) {
      const bytes = contentOf(m, size);
      const content = { bytes, sha256: await sha256Hex(bytes) };
      made.push({
        id: ids[m % memories] ?? "",
        path: pathOf(m % memories),
        content,
        at: Math.round(from + m * step),
      });
    }
    dir.commit(() => {
      for (const version of made) add(dir, version);
    });
  }
  for (let n = last; n < versions; n += 1) await put(n, dir.now);
}

interface NewVersion {
  /** Of the memory. */
  id: string;
  path: string;
  content: Content;
  at: number;
}

function add({ sql }: Directory, { id: memoryId, path, content, at }: NewVersion): void {
  const stored = addContent(sql, content);
  const id = newId("memver");
  addVersion(sql, { id, memoryId, operation: "modified", path, content: stored, actor, at });
}

function pathOf(n: number): string {
  return `memory-${n}.md`;
}

function contentOf(n: number, size: number): Uint8Array {
  return new TextEncoder().encode(`version ${n} `.padEnd(size, "One more line of it.\n"));
}
