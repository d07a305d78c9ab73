// Back in a long history by an hour: of one memory with very many versions, and of many memories.

import * as z from "zod";
import { apiOf, ORG } from "./bench-session.ts";
import { sizeOf } from "./figures.ts";
import type { Way } from "./memory.ts";
import type { BenchWorker } from "./start-worker.ts";

const USER = "undoer";
const VERSION_BYTES = 24 * 1024;
const HOUR_MS = 3_600_000;
const MANY = 200;

/** Stores, by what they hold. */
export interface Histories {
  small: string;
  long: string;
  many: string;
}

const made = z.object({ id: z.string() });
const rewound = z.object({ changed: z.array(z.unknown()), skipped: z.array(z.unknown()) });

export async function makeHistories(worker: BenchWorker): Promise<Histories> {
  const versions = sizeOf("BENCH_VERSIONS", 4000);
  return {
    small: await makeStore(worker, 1, 3),
    long: await makeStore(worker, 1, versions),
    many: await makeStore(worker, MANY, Math.max(3 * MANY, versions)),
  };
}

export function rewinds({ small, long, many }: Histories): Way[] {
  const versions = sizeOf("BENCH_VERSIONS", 4000);
  return [
    {
      name: `rewind of a memory with ${versions} versions`,
      warm: (worker) => rewind(worker, small),
      run: (worker) => rewind(worker, long),
    },
    {
      name: `rewind of ${MANY} memories with ${versions} versions`,
      warm: (worker) => rewind(worker, small),
      run: (worker) => rewind(worker, many),
    },
    {
      // The local runtime has R2 in the same process: what its puts take is in the line above, too.
      name: `${MANY} saves, to compare`,
      warm: (worker) => save(worker, small, 1),
      run: (worker) => save(worker, many, MANY),
    },
  ];
}

/** Half of a history is older than an hour. */
async function makeStore(worker: BenchWorker, memories: number, versions: number): Promise<string> {
  const api = await apiOf(worker, USER);
  const { id } = made.parse(await (await api("/v1/memory_stores", { name: "history" })).json());
  const from = Date.now() - 2 * HOUR_MS;
  const url = `${worker.url}/bench/history?org=${ORG}&user=${USER}&store=${id}`;
  const body = JSON.stringify({ memories, versions, size: VERSION_BYTES, from });
  const response = await fetch(url, { method: "POST", body });
  if (!response.ok) throw new Error(`/bench/history: ${response.status} ${await response.text()}`);
  await response.body?.cancel();
  return id;
}

async function rewind(worker: BenchWorker, store: string): Promise<string> {
  const api = await apiOf(worker, USER);
  const to = new Date(Date.now() - HOUR_MS).toISOString();
  const response = await api(`/v1/memory_stores/${store}/rewind`, { to });
  const { changed, skipped } = rewound.parse(await response.json());
  return `${changed.length} changed, ${skipped.length} skipped`;
}

async function save(worker: BenchWorker, store: string, count: number): Promise<string> {
  const api = await apiOf(worker, USER);
  for (let n = 0; n < count; n += 1) {
    const content = `save ${n} `.padEnd(VERSION_BYTES, "One more line of it.\n");
    const path = `/saves/${n}.md`;
    await (await api(`/v1/memory_stores/${store}/memories`, { path, content })).body?.cancel();
  }
  return `${count} saved`;
}
