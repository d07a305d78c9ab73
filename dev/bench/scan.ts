// What a scan of a memory directory costs: ours against three ways of asking R2, on the same bucket
// in one run.

import { join } from "node:path";
import { createTestHarness } from "wrangler";

const COUNTS = [200, 1000, 2000];
const ROUNDS = 5;

/** Prints, for each count, time and R2 calls of each way; the median of five rounds. */
export async function benchScan(): Promise<void> {
  const harness = createTestHarness({
    workers: [{ configPath: join(import.meta.dirname, "scan-worker", "wrangler.toml") }],
  });
  await harness.listen();
  for (const count of COUNTS) {
    const response = await harness.fetch(`/?count=${count}&rounds=${ROUNDS}`);
    const rows = (await response.json()) as {
      way: string;
      ms: number;
      calls: number;
      found: number;
    }[];
    console.log(`${count} files`);
    const reads = rows.find((row) => row.way === "list plus reads")?.ms ?? 0;
    for (const { way, ms, calls, found } of rows) {
      const ratio = ms === 0 ? "-" : `${(reads / ms).toFixed(1)}x`;
      console.log(
        `  ${way.padEnd(20)} ${ms.toFixed(1).padStart(8)} ms  ${String(calls).padStart(5)} R2 calls  ${found} found  ${ratio} of list plus reads`,
      );
    }
  }
  await harness.close();
}
