// The first piece of an answer, alone and many at once, and an answer of thousands of pieces.

import type { BenchSession } from "./bench-session.ts";
import { bareTurn, type Cells, type Cost, type Kind, sessionOfKind } from "./cost-shared.ts";
import { median, pause, shown, sizeOf } from "./figures.ts";
import { processFigures } from "./process-figures.ts";

/** In pieces with pauses: what is said at once may reach a client only with its end. */
const SLOW = { text: "It is noted for later, as you said.", chunkDelayMs: 20 };
/** Characters that the model's server puts into one piece. */
const PIECE = 8;
const KINDS: readonly Kind[] = ["without", "empty", "full"];
const REST_MS = 1500;

export async function measureFirstDelta({ model, bare, ours, add }: Cost): Promise<void> {
  model.answer = SLOW;
  model.choose = 0;
  const wide = sizeOf("BENCH_WIDE", 20);
  const bareAlone = await alone(() => bareTurn(bare, "hello"));
  const cells: Cells = { bare: shown(bareAlone, 1) };
  const wideCells: Cells = { bare: shown(await together(wide, () => bareTurn(bare, "hello")), 1) };
  const resident: Cells = { bare: megabytes(bare.pid) };
  for (const kind of KINDS) {
    const single = await sessionOfKind(ours, kind);
    await single.turn("hello");
    cells[kind] = shown(await alone(() => single.turn("What is new?")), 1);
    await single.close();
    const sessions: BenchSession[] = [];
    for (let n = 0; n < wide; n += 1) sessions.push(await sessionOfKind(ours, kind));
    await Promise.all(sessions.map((session) => session.turn("hello")));
    await pause(REST_MS);
    const run = (n: number) => (sessions[n] ?? single).turn("What is new?");
    wideCells[kind] = shown(await together(wide, run), 1);
    resident[kind] = megabytes(ours.pid);
    for (const session of sessions) await session.close();
    await pause(REST_MS);
  }
  add("first delta alone, ms", cells);
  add(`first delta, ${wide} at once, ms`, wideCells);
  add(`resident, ${wide} at once, MB`, resident);
}

export async function measureFlood({ model, bare, ours, add }: Cost): Promise<void> {
  const deltas = sizeOf("BENCH_DELTAS", 5000);
  const text = Array.from({ length: deltas }, (_, n) => String(n).padStart(PIECE, " boats."))
    .join("")
    .trim();
  model.answer = { text };
  const session = await sessionOfKind(ours, "empty");
  await session.turn("hello");
  await pause(REST_MS);
  const rates = { bare: [] as number[], ours: [] as number[] };
  const same = { bare: true, ours: true };
  let frames = 0;
  for (let round = 0; round < 3; round += 1) {
    const passed = await bareTurn(bare, "flood");
    rates.bare.push((1000 * deltas) / passed.idleMs);
    same.bare &&= passed.text === text;
    const turn = await session.turn("flood");
    rates.ours.push((1000 * deltas) / turn.idleMs);
    same.ours &&= turn.stored === text && turn.text === text;
    frames = turn.deltas;
    await pause(REST_MS);
  }
  await session.close();
  add(`${deltas} deltas at once, a second`, {
    bare: shown(median(rates.bare)),
    empty: shown(median(rates.ours)),
  });
  add("  in frames; the same text", {
    bare: same.bare ? "yes" : "NO",
    empty: `${frames}; ${same.ours ? "yes" : "NO"}`,
  });
}

async function alone(run: () => Promise<{ shownMs: number }>): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < sizeOf("BENCH_ROUNDS", 20); n += 1) {
    times.push((await run()).shownMs);
    await pause(50);
  }
  return median(times);
}

async function together(wide: number, run: (n: number) => Promise<{ shownMs: number }>) {
  const times: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const turns = await Promise.all(Array.from({ length: wide }, (_, n) => run(n)));
    times.push(...turns.map(({ shownMs }) => shownMs));
    await pause(REST_MS / 3);
  }
  return median(times);
}

function megabytes(pid: string): string {
  return shown(processFigures(pid).residentBytes / 1024 / 1024);
}
