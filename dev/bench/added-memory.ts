// How much more memory a piece of work takes than the same process had before it.

import { pause } from "./figures.ts";
import { openInspector } from "./inspector.ts";
import { forgetPeak, processFigures } from "./process-figures.ts";
import type { BenchWorker } from "./start-worker.ts";

/** Both in bytes, at their highest. */
export interface AddedMemory {
  /** The isolate's heap and what its buffers hold, with what waits for a collection. */
  isolate: number;
  /** Resident memory of the process: the kernel counts it, so that nothing is missed. */
  resident: number;
}

const SAMPLE_MS = 20;
/** The runtime frees some things only a moment after they are over. */
const REST_MS = 500;

export async function addedMemory(
  worker: BenchWorker,
  work: () => Promise<void>,
): Promise<AddedMemory> {
  if (!worker.inspectorUrl) throw new Error("The worker was started without its inspector");
  const inspector = await openInspector(worker.inspectorUrl);
  try {
    const wake = async () => (await fetch(`${worker.url}/health`)).body?.cancel();
    await inspector.collect(wake);
    await pause(REST_MS);
    await inspector.collect(wake);
    const before = await inspector.whole();
    const { residentBytes } = processFigures(worker.pid);
    forgetPeak(worker.pid);
    let highest = before;
    let over = false;
    const done = work().finally(() => {
      over = true;
    });
    while (!over) {
      highest = Math.max(highest, await inspector.whole());
      await Promise.race([pause(SAMPLE_MS), done]);
    }
    await done;
    const { peakBytes } = processFigures(worker.pid);
    return { isolate: highest - before, resident: peakBytes - residentBytes };
  } finally {
    inspector.close();
  }
}
