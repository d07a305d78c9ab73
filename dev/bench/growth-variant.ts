// One session that grows, under one of three conditions of its extraction.

import * as z from "zod";
import { createFakeModel, type ModelCall } from "../fake-model/fake-model.ts";
import type { ScriptStep } from "../fake-model/script.ts";
import { serveFakeModel } from "../fake-model/serve.ts";
import { type BenchSession, createBenchSession, ORG } from "./bench-session.ts";
import { median, pause } from "./figures.ts";
import { forgetPeak, processFigures } from "./process-figures.ts";
import { usedHeap } from "./runtime-memory.ts";
import { type BenchWorker, startBenchWorker } from "./start-worker.ts";

export type Variant = "extraction on" | "over budget" | "model out";

export interface GrowthFigures {
  /** From the message to idle; the median. */
  ms: number;
  /** Rows of the session that a turn read and wrote, with what followed it; medians. */
  read: number;
  written: number;
  /** Megabytes: the script's after a collection; the process's then, and at most within the turns. */
  heap: number;
  resident: number;
  peak: number;
}

export interface GrowthRow {
  turns: number;
  figures: GrowthFigures | undefined;
  /** Why there are none. */
  why?: string;
}

const USER = "grower";
const WORKSPACE = "growth";
/** Turns in one transaction. */
const GROW_AT_ONCE = 100;
const RESULT_BYTES = 23_000;
const MEGABYTE = 1024 * 1024;
const WINDOW_TOKENS = "64000";
/** A turn that is not done by then is no figure any more. */
const TURN_MS = 60_000;
/** For what a turn leaves behind, in milliseconds: nothing new in so long, at most so long. */
const QUIET_MS = 200;
const QUIET_MOST_MS = 10_000;
const WORDS = "The harbour master counts the boats that come in with the tide. ".repeat(16);

const counts = z.record(z.string(), z.number());

/** Figures at each size in turn; those that are not reached before `end` have none. */
export async function measureGrowth(
  variant: Variant,
  sizes: readonly number[],
  turns: number,
  end: number,
): Promise<GrowthRow[]> {
  const heard = { extractions: 0, files: 0 };
  const model = createFakeModel({
    recordLimit: 1,
    contextTokens: Number(WINDOW_TOKENS),
    reply: (call) => replyOf(call, variant, heard),
  });
  const server = await serveFakeModel(model);
  const worker = await startBenchWorker(
    "measured-service.toml",
    {
      ANTHROPIC_BASE_URL: server.url,
      BENCH_COUNTS: "1",
      CONTEXT_WINDOW_TOKENS: WINDOW_TOKENS,
      NOTES_FIRST_TOKENS: "1000000000",
      ...(variant === "over budget" ? { DAILY_TOKEN_BUDGET: "1" } : {}),
    },
    true,
  );
  const rows: GrowthRow[] = [];
  try {
    const session = await createBenchSession(worker, USER, { workspace: WORKSPACE });
    const growing = { worker, session, variant, heard, turns: 0 };
    await putSources(worker, sizes.length * (turns + 1));
    for (const size of sizes) {
      const figures = await within(end, () => measureAt(growing, size, turns, end));
      rows.push(
        typeof figures === "string"
          ? { turns: size, figures: undefined, why: figures }
          : { turns: size, figures },
      );
    }
    await session.close();
  } finally {
    await worker.close();
    await server.close();
  }
  return rows;
}

interface Growing {
  worker: BenchWorker;
  session: BenchSession;
  variant: Variant;
  heard: { extractions: number };
  /** Turns so far. */
  turns: number;
}

async function measureAt(
  of: Growing,
  size: number,
  turns: number,
  end: number,
): Promise<GrowthFigures | string> {
  const { worker, session } = of;
  await grow(of, size, end);
  if (of.turns < size) return "not in time";
  const all: { ms: number; read: number; written: number }[] = [];
  forgetPeak(worker.pid);
  // The first turn wakes the object and is not counted.
  for (let n = 0; n <= turns && (Date.now() < end || n < 2); n += 1) {
    const seen = of.heard.extractions;
    await take(worker);
    const { idleMs } = await session.turn(`${n}. ${WORDS}`);
    of.turns += 1;
    const rows = await settle(of, seen);
    if (n > 0) all.push({ ms: idleMs, ...rows });
  }
  const peak = processFigures(worker.pid).peakBytes / MEGABYTE;
  if (!worker.inspectorUrl) throw new Error("The worker was started without its inspector");
  const heap = await usedHeap(worker.inspectorUrl, () => fetch(`${worker.url}/health`));
  return {
    ms: median(all.map(({ ms }) => ms)),
    read: median(all.map(({ read }) => read)),
    written: median(all.map(({ written }) => written)),
    heap: heap / MEGABYTE,
    resident: processFigures(worker.pid).residentBytes / MEGABYTE,
    peak,
  };
}

/** Makes turns up to so many, and starts the object anew. */
async function grow(of: Growing, size: number, end: number): Promise<void> {
  const { worker, session, variant } = of;
  const name = encodeURIComponent(JSON.stringify([ORG, USER, session.id]));
  // What they are like is that of a turn of its own.
  if (of.turns === 0) {
    const { extractions } = of.heard;
    await session.turn(`The first turn. ${WORDS}`);
    of.turns += 1;
    await settle(of, extractions);
  }
  while (of.turns < size && Date.now() < end) {
    const turns = Math.min(GROW_AT_ONCE, size - of.turns);
    await bench(worker, `grow?name=${name}`, {
      turns,
      extracted: variant === "extraction on",
      resultSize: RESULT_BYTES,
      model: "claude-opus-5-5",
    });
    of.turns += turns;
  }
  if (variant === "model out") await bench(worker, `asked?name=${name}&turns=${of.turns}`);
  await bench(worker, `restart?name=${name}`);
  await session.reopen();
}

/** Waits for what follows a turn; gives the session's rows since the last count. */
async function settle(of: Growing, extractionsBefore: number) {
  const { worker, variant, heard } = of;
  const sum = { read: 0, written: 0 };
  const until = Date.now() + QUIET_MOST_MS;
  for (let quiet = false; !quiet && Date.now() < until; ) {
    await pause(QUIET_MS);
    const news = await take(worker);
    sum.read += news["Session rows read"] ?? 0;
    sum.written += news["Session rows written"] ?? 0;
    const asked = variant === "over budget" || heard.extractions > extractionsBefore;
    quiet = asked && (news["Session statements"] ?? 0) === 0;
  }
  return sum;
}

async function take(worker: BenchWorker): Promise<Record<string, number>> {
  return counts.parse(await (await fetch(`${worker.url}/bench/counts`)).json());
}

async function bench({ url }: BenchWorker, path: string, body: unknown = {}): Promise<void> {
  const init = { method: "POST", body: JSON.stringify(body) };
  const response = await fetch(`${url}/bench/${path}`, init);
  if (!response.ok) throw new Error(`/bench/${path}: ${response.status} ${await response.text()}`);
  await response.body?.cancel();
}

async function putSources(worker: BenchWorker, count: number): Promise<void> {
  const line = "What is known of one more boat in the harbour, and of its tide.\n";
  const text = line.repeat(Math.ceil(RESULT_BYTES / line.length));
  const files = Array.from({ length: count + 1 }, (_, n) => [
    `t/${ORG}/u/${USER}/w/${WORKSPACE}/part-${n}.txt`,
    text,
  ]);
  await bench(worker, "files", files);
}

/** One tool call a turn; nothing is worth saving. */
function replyOf(
  { request, purpose }: ModelCall,
  variant: Variant,
  heard: { extractions: number; files: number },
): ScriptStep | undefined {
  if (purpose === "extraction") {
    heard.extractions += 1;
    if (variant === "model out") return { fault: { type: "status", status: 529 } };
    return { text: "There is nothing to save." };
  }
  if (purpose !== "main")
    return { text: "The boats are counted and the tide is noted. ".repeat(45) };
  const last = request.messages.at(-1)?.content ?? "";
  if (typeof last !== "string" && last.some(({ type }) => type === "tool_result")) {
    return { text: WORDS };
  }
  const file_path = `/workspace/${WORKSPACE}/part-${heard.files}.txt`;
  heard.files += 1;
  return { text: "I look it up.", tools: [{ name: "Read", input: { file_path } }] };
}

/** Whatever ends a session for good, such as its memory, is told in the table. */
async function within<T>(end: number, work: () => Promise<T>): Promise<T | string> {
  if (Date.now() > end) return "not in time";
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve("not done"), end - Date.now() + TURN_MS);
  });
  const done = work().catch((error: unknown) => `failed: ${String(error).slice(0, 80)}`);
  return Promise.race([done, late]).finally(() => clearTimeout(timer));
}
