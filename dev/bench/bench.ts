// `npm run bench [-- name …]`: measures, and never judges. Figures of one run stand side by side;
// between runs and machines they mean little.

import { benchCompaction } from "./compaction.ts";
import { benchCost } from "./cost.ts";
import { benchGrowth } from "./growth.ts";
import { benchMemory } from "./memory.ts";
import { benchRecall } from "./recall.ts";
import { benchScan } from "./scan.ts";
import { benchSessions } from "./sessions.ts";
import { benchTurn } from "./turn.ts";

const BENCHES: Record<string, () => Promise<void>> = {
  compaction: benchCompaction,
  cost: benchCost,
  growth: benchGrowth,
  memory: benchMemory,
  recall: benchRecall,
  scan: benchScan,
  sessions: benchSessions,
  turn: benchTurn,
};

const asked = process.argv.slice(2);
const names = asked.length > 0 ? asked : Object.keys(BENCHES);
for (const name of names) {
  const bench = Object.hasOwn(BENCHES, name) ? BENCHES[name] : undefined;
  if (!bench) {
    console.error(`There is no bench "${name}". There is: ${Object.keys(BENCHES).join(", ")}`);
    process.exit(1);
  }
  console.log(`\n# ${name}`);
  await bench();
}
process.exit(0);
