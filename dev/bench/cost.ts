// What the service costs beside a bare Worker in front of the same model, in one run. The columns:
// the bare Worker; a session without memory (`bare`), with an empty one, and with 200 memories.

import { measureFirstDelta, measureFlood } from "./cost-delta.ts";
import { startCostModel } from "./cost-model.ts";
import { type Cells, type Cost, fillMemories, MEMORIES } from "./cost-shared.ts";
import { measureList, measureSaves } from "./cost-store.ts";
import { measureModelBytes, measureTurns, printStorageTable } from "./cost-turn.ts";
import { printTable } from "./figures.ts";
import { startBenchWorker } from "./start-worker.ts";

/**
 * For a quick run: `BENCH_WIDE=5 BENCH_ROUNDS=5 BENCH_TURNS=4 BENCH_DELTAS=500 BENCH_LIST=100
 * BENCH_SAVES=50`.
 */
export async function benchCost(): Promise<void> {
  const model = await startCostModel();
  const variables = { ANTHROPIC_BASE_URL: model.url };
  const bare = await startBenchWorker("bare-worker.toml", variables);
  const ours = await startBenchWorker("measured-service.toml", variables);
  const rows: [string, Cells][] = [];
  const cost: Cost = { model, bare, ours, add: (what, cells) => rows.push([what, cells]) };
  await fillMemories(ours);
  for (const measure of [
    measureTurns,
    measureFirstDelta,
    measureFlood,
    measureSaves,
    measureModelBytes,
    measureList,
  ]) {
    await measure(cost);
  }
  printTable([
    ["", "bare", "no memory", "empty", `${MEMORIES} memories`],
    ...rows.map(([what, { bare: by = "", without = "", empty = "", full = "" }]) => [
      what,
      by,
      without,
      empty,
      full,
    ]),
  ]);
  await bare.close();
  await ours.close();
  const counting = await startBenchWorker("measured-service.toml", {
    ...variables,
    BENCH_COUNTS: "1",
  });
  await printStorageTable(cost, counting);
  await counting.close();
  await model.close();
}
