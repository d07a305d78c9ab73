// How much memory it takes to read a session of large messages, and to go back in a long history:
// each in a process that was started for it and has done the same in small.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeModel, type ModelCall } from "../fake-model/fake-model.ts";
import { serveFakeModel } from "../fake-model/serve.ts";
import { addedMemory } from "./added-memory.ts";
import { printTable, shown } from "./figures.ts";
import { makeLargeSession, readings } from "./memory-events.ts";
import { makeHistories, rewinds } from "./memory-rewind.ts";
import { type BenchWorker, startBenchWorker } from "./start-worker.ts";

const MEGABYTE = 1024 * 1024;

/** One way to be measured; it gives back what there was of it, in words. */
export interface Way {
  name: string;
  /** The same in small: what a first time takes of memory is not what the size takes. */
  warm(worker: BenchWorker): Promise<unknown>;
  run(worker: BenchWorker): Promise<string>;
}

/** `BENCH_MESSAGES`, `BENCH_VERSIONS`: for a quick run. `BENCH_WAYS`: only those with this in their name. */
export async function benchMemory(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "memdir-bench-"));
  const model = await serveFakeModel(createFakeModel({ recordLimit: 1, reply: waiting }));
  const start = () =>
    startBenchWorker("measured-service.toml", { ANTHROPIC_BASE_URL: model.url }, true, directory);
  try {
    const maker = await start();
    const sessions = await makeLargeSession(maker);
    const histories = await makeHistories(maker);
    await maker.close();
    const table = [["", "what there was", "isolate, MB more", "resident, MB more"]];
    const chosen = process.env.BENCH_WAYS ?? "";
    for (const way of [...readings(sessions), ...rewinds(histories)]) {
      if (!way.name.includes(chosen)) continue;
      const worker = await start();
      await way.warm(worker);
      let was = "";
      const added = await addedMemory(worker, async () => {
        was = await way.run(worker);
      });
      const cells = [added.isolate, added.resident].map((bytes) => shown(bytes / MEGABYTE, 1));
      table.push([way.name, was, ...cells]);
      await worker.close();
    }
    printTable(table);
  } finally {
    await model.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Each turn asks before it writes: it stands still, and what is sent next only waits for its turn. */
function waiting({ purpose }: ModelCall) {
  if (purpose !== "main") return undefined;
  const input = { file_path: "/workspace/large/a.md", content: "x" };
  return { text: "May I?", tools: [{ name: "Write", input }] };
}
