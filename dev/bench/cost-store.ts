// A list of thousands of sessions, and saves beside bare puts to R2.

import * as z from "zod";
import { apiOf } from "./bench-session.ts";
import type { Cost } from "./cost-shared.ts";
import { median, pause, shown, sizeOf } from "./figures.ts";
import { processFigures } from "./process-figures.ts";

const LANES = 8;
/** The runtime drops an object that nobody asks for some ten seconds. */
const EVICTED_MS = 12_000;
const page = z.object({ data: z.array(z.unknown()), next_page: z.string().nullish() });

export async function measureList({ ours, add }: Cost): Promise<void> {
  const sessions = sizeOf("BENCH_LIST", 2500);
  const api = await apiOf(ours, "lister");
  let made = 0;
  const lane = async () => {
    while (made < sessions) {
      made += 1;
      const body = { agent: "default", environment_id: "list", metadata: { bare: "true" } };
      await (await api("/v1/sessions", body)).json();
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  const list = async () => {
    const from = performance.now();
    let found = 0;
    let next: string | null | undefined;
    do {
      const query = next ? `&page=${encodeURIComponent(next)}` : "";
      const read = page.parse(await (await api(`/v1/sessions?limit=100${query}`)).json());
      found += read.data.length;
      next = read.next_page;
    } while (next);
    if (found !== made) throw new Error(`Of ${made} sessions ${found} were listed`);
    return performance.now() - from;
  };
  await pause(EVICTED_MS);
  const before = processFigures(ours.pid).residentBytes;
  const cold = await list();
  const grown = (processFigures(ours.pid).residentBytes - before) / 1024 / 1024;
  const warm: number[] = [];
  for (let n = 0; n < 3; n += 1) warm.push(await list());
  add(`list of ${made} sessions at rest, ms`, { without: shown(cold) });
  add("  and at once again, ms", { without: shown(median(warm)) });
  add("  more resident memory, MB", { without: shown(grown) });
}

const spent = z.object({ saves: z.number(), puts: z.number() });

export async function measureSaves({ ours, add }: Cost): Promise<void> {
  const count = sizeOf("BENCH_SAVES", 300);
  const rounds: z.infer<typeof spent>[] = [];
  for (let n = 0; n < 3; n += 1) {
    const response = await fetch(`${ours.url}/bench/saves?count=${count}`);
    rounds.push(spent.parse(await response.json()));
  }
  const saves = (1000 * count) / median(rounds.map((round) => round.saves));
  const puts = (1000 * count) / median(rounds.map((round) => round.puts));
  add("saves a second (bare: puts to R2)", { bare: shown(puts), empty: shown(saves) });
  add("  beside bare puts", { empty: shown(saves / puts, 2) });
}
