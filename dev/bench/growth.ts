// What a turn costs in a session of so many turns: time, rows and memory, with extraction on, over the
// day's budget, and with the model out for the extraction. The turns before are made, not talked.

import { printTable, shown, sizeOf, sizesOf } from "./figures.ts";
import { type GrowthRow, measureGrowth, type Variant } from "./growth-variant.ts";

const SIZES = [10, 100, 1000, 3000, 10_000];
/** The figure that the others are compared with. */
const BASE = 100;
/** All of it, in milliseconds: a size that does not fit in any more has no figures. */
const MOST_MS = 300_000;

const VARIANTS: readonly Variant[] = ["extraction on", "over budget", "model out"];

/** `BENCH_SIZES=10,100,1000`, `BENCH_TURNS` (measured at each size), `BENCH_MS`: for a quick run. */
export async function benchGrowth(): Promise<void> {
  const sizes = sizesOf("BENCH_SIZES", SIZES);
  const turns = sizeOf("BENCH_TURNS", 5);
  const end = Date.now() + sizeOf("BENCH_MS", MOST_MS);
  const table = [
    [
      "variant",
      "turns",
      "turn, ms",
      "rows read",
      "written",
      "heap, MB",
      "resident, MB",
      "peak, MB",
      "ms x",
      "read x",
      "heap x",
      "peak x",
    ],
  ];
  for (const [n, variant] of VARIANTS.entries()) {
    const share = Date.now() + (end - Date.now()) / (VARIANTS.length - n);
    const rows = await measureGrowth(variant, sizes, turns, share);
    const base = rows.find((row) => row.turns === BASE);
    for (const row of rows) table.push(cellsOf(variant, row, base));
  }
  printTable(table);
  console.log(
    `"x": beside the figure at ${BASE} turns. Rows of the session, with what follows a turn.`,
  );
}

function cellsOf(variant: Variant, row: GrowthRow, base: GrowthRow | undefined): string[] {
  const { figures } = row;
  const ratio = (of: "ms" | "read" | "heap" | "peak") => {
    const by = base?.figures?.[of];
    return figures && by ? shown(figures[of] / by, 2) : "-";
  };
  return [
    variant,
    String(row.turns),
    shown(figures?.ms, 1),
    shown(figures?.read),
    shown(figures?.written),
    shown(figures?.heap, 1),
    shown(figures?.resident),
    shown(figures?.peak),
    ratio("ms"),
    ratio("read"),
    ratio("heap"),
    figures ? ratio("peak") : (row.why ?? "-"),
  ];
}
