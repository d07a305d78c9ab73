// What a turn of 2 KB takes with all that follows it: CPU, disk, models; and a table by name of what it
// did with the storage.

import * as z from "zod";
import {
  bareTurn,
  type Cells,
  type Cost,
  type Kind,
  sessionOfKind,
  untilExtracted,
} from "./cost-shared.ts";
import { pause, printTable, shown, sizeOf } from "./figures.ts";
import { processFigures } from "./process-figures.ts";
import type { BenchWorker } from "./start-worker.ts";
import { createWalCounter, type Written } from "./wal.ts";

const KILOBYTE = "The harbour master counts the boats that come in with the tide. ".repeat(16);
/** Until an answer begins, like a real one: a search for memories, which begins before, has its time. */
const THINK_MS = 600;
/** The runtime closes what nobody asks for, and writes for it: that must not count for the next. */
const REST_MS = 12_000;
/** Of a page in a log: the page and the frame's header. */
const PAGE_BYTES = 4096 + 24;
const KINDS: readonly Kind[] = ["without", "empty", "full"];

export async function measureTurns(cost: Cost): Promise<void> {
  const { model, bare, ours, add } = cost;
  model.answer = { text: KILOBYTE, delayMs: THINK_MS };
  model.choose = 0;
  const turns = sizeOf("BENCH_TURNS", 20);
  const before = processFigures(bare.pid);
  for (let n = 0; n < turns; n += 1) await bareTurn(bare, KILOBYTE);
  const spent = (processFigures(bare.pid).cpuMs - before.cpuMs) / turns;
  const cpu: Cells = { bare: shown(spent, 1) };
  const disk: Cells = {};
  const commits: Cells = {};
  const pages: Cells = {};
  const logged: Cells = {};
  for (const kind of KINDS) {
    await pause(REST_MS);
    const figures = await turnsOf(cost, ours, kind, turns);
    cpu[kind] = shown(figures.cpuMs, 1);
    disk[kind] = shown(figures.writtenBytes / 1024, 1);
    const all = [...figures.logs.values()];
    commits[kind] = shown(all.reduce((sum, log) => sum + log.commits, 0) / turns, 1);
    const written = all.reduce((sum, log) => sum + log.pages, 0) / turns;
    pages[kind] = shown(written, 1);
    logged[kind] = shown((written * PAGE_BYTES) / 1024, 1);
  }
  add("CPU a turn of 2 KB, ms", cpu);
  add("disk a turn of 2 KB, KiB (logs of SQLite)", logged);
  add("  KiB (write_bytes of the process)", disk);
  add("  commits a turn, by the logs of SQLite", commits);
  add("  pages a turn, by the logs of SQLite", pages);
}

/** Bytes of requests to the model a turn, by purpose; memories are chosen. */
export async function measureModelBytes({ model, ours, add }: Cost): Promise<void> {
  model.answer = { text: "It is noted for later, as you said.", delayMs: THINK_MS };
  model.choose = 1;
  const turns = sizeOf("BENCH_TURNS", 20) / 2;
  const session = await sessionOfKind(ours, "full");
  model.sent.clear();
  for (let n = 1; n <= turns; n += 1) {
    await session.turn(`${n}. How is the release built?`);
    await untilExtracted(model, n);
  }
  await session.close();
  let all = 0;
  const rows: [string, string][] = [];
  for (const [purpose, { requests, bytes }] of model.sent) {
    all += bytes;
    const cell = `${shown(bytes / turns / 1024, 1)} in ${shown(requests / turns, 1)}`;
    rows.push([`  ${purpose}, KiB in requests`, cell]);
  }
  add("to models a turn, KiB", { full: shown(all / turns / 1024, 1) });
  for (const [what, full] of rows) add(what, { full });
}

/** Named where there are none, too. */
const ALARMS = ["Session setAlarm", "Session alarms fired"];

/** What a turn does with the storage, by name; a service that counts. */
export async function printStorageTable(cost: Cost, counting: BenchWorker): Promise<void> {
  cost.model.answer = { text: KILOBYTE, delayMs: THINK_MS };
  cost.model.choose = 0;
  const turns = sizeOf("BENCH_TURNS", 20);
  const columns: Record<string, Map<string, number>> = {};
  for (const kind of ["without", "empty"] as const) {
    const { logs, counts } = await turnsOf(cost, counting, kind, turns);
    const names = new Map(ALARMS.map((name) => [name, 0]));
    for (const [name, { commits, pages }] of logs) {
      names.set(`${name} commits`, commits / turns);
      names.set(`${name} pages`, pages / turns);
    }
    for (const [name, times] of Object.entries(counts)) names.set(name, times / turns);
    columns[kind] = names;
  }
  const all = new Set(Object.values(columns).flatMap((names) => [...names.keys()]));
  const rows = [...all]
    .toSorted()
    .map((name) => [
      name,
      shown(columns.without?.get(name) ?? 0, 1),
      shown(columns.empty?.get(name) ?? 0, 1),
    ]);
  console.log("\nstorage a turn, by name");
  printTable([["", "without memory", "with memory"], ...rows]);
}

async function turnsOf(
  { model }: Pick<Cost, "model">,
  worker: BenchWorker,
  kind: Kind,
  turns: number,
) {
  const session = await sessionOfKind(worker, kind);
  model.sent.clear();
  const follows = async (n: number) => {
    if (kind === "without") await pause(100);
    else await untilExtracted(model, n);
  };
  await session.turn("hello");
  await follows(1);
  const look = createWalCounter(worker.directory);
  look();
  await takeCounts(worker);
  const logs = new Map<string, Written>();
  const before = processFigures(worker.pid);
  for (let n = 1; n <= turns; n += 1) {
    await session.turn(`${n}. ${KILOBYTE}`);
    await follows(n + 1);
    for (const [name, { commits, pages }] of look()) {
      const sum = logs.get(name) ?? { commits: 0, pages: 0 };
      logs.set(name, { commits: sum.commits + commits, pages: sum.pages + pages });
    }
  }
  const after = processFigures(worker.pid);
  await session.close();
  return {
    cpuMs: (after.cpuMs - before.cpuMs) / turns,
    writtenBytes: (after.writtenBytes - before.writtenBytes) / turns,
    logs,
    counts: await takeCounts(worker),
  };
}

const counts = z.record(z.string(), z.number());

async function takeCounts({ url }: BenchWorker): Promise<Record<string, number>> {
  return counts.parse(await (await fetch(`${url}/bench/counts`)).json());
}
