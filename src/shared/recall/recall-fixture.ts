// What the tests of recall share: candidates, a workspace, and ports that answer at once.

import { createMapStore } from "../files/map-store.ts";
import type { FileStore } from "../files/store.ts";
import type { Scanned } from "./offer.ts";
import type { RecallInput, RecallPorts } from "./recall.ts";

export const DAY = 24 * 60 * 60 * 1000;
export const NOW = Date.UTC(2026, 10, 30, 12);
export const DIRECTORY = "/memory/projects/app/memory";

export function candidate(path: string, more: Partial<Scanned> = {}): Scanned {
  return {
    ...{ id: `mem_${path}`, sha256: `sha of ${path}` },
    ...{ path, type: undefined, name: undefined, description: undefined },
    ...{ updatedAt: NOW - DAY, size: 100 },
    ...more,
  };
}

export const bytesOf = (text: string) => new TextEncoder().encode(text);

/** A store that holds these texts by path. */
export async function storeOf(files: Record<string, string | Uint8Array>): Promise<FileStore> {
  const store = createMapStore(() => NOW);
  for (const [path, content] of Object.entries(files)) {
    await store.put(path, typeof content === "string" ? bytesOf(content) : content);
  }
  return store;
}

export const input = (more: Partial<RecallInput> = {}): RecallInput => ({
  message: "when do we deploy?",
  recent: [],
  toolsInUse: [],
  time: "Monday, 2026-11-30, 12:00 (time zone UTC)",
  shown: new Set(),
  read: new Set(),
  readContents: new Set(),
  sessionBytes: 0,
  directory: DIRECTORY,
  fallback: "words",
  ...more,
});

/** Ports over memories by path, all a day old; the model chooses `selected`. */
export function portsOf(
  memories: Record<string, string>,
  selected: readonly string[],
  more: Partial<RecallPorts> = {},
): RecallPorts {
  const files = new Map(Object.entries(memories));
  return {
    scan: async (limit) => [...files.keys()].slice(0, limit).map((path) => candidate(path)),
    choose: async () => ({
      status: "answered",
      text: JSON.stringify({ selected_memories: selected }),
    }),
    read: async (path) => {
      const text = files.get(path);
      return text === undefined ? undefined : bytesOf(text);
    },
    workspace: undefined,
    within: (_ms, work) => work,
    now: () => NOW,
    dateOf: (at) => new Date(at).toISOString().slice(0, 10),
    mask: async (text) => text,
    ...more,
  };
}
