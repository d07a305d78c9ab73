// What a compaction costs with notes and without: model calls, tokens, time, and what the turn after
// it reads from the cache. Two services side by side, the same words, the same small window.

import type { RecordedRequest } from "../fake-model/record.ts";
import { startBenchService } from "./recall-service.ts";

const WINDOW = "40000";
/** About 600 tokens. */
const WORDS = "The harbour master counts the boats that come in with the tide. ".repeat(40);
const TURNS = 100;
const COMPACTED = "agent.thread_context_compacted";
/** About 500 tokens. */
const SUMMARY = "The boats are counted and the tide is noted. ".repeat(45);
/** Until a summary begins, in milliseconds: sooner than a real model would have it. */
const THINK_MS = 1000;

/** Variables that turn notes on; the bench's service has them off. */
const NOTES = {
  notes: { NOTES_FIRST_TOKENS: "4000", NOTES_GROWTH_TOKENS: "4000" },
  summary: {},
} as const;

const PATH = "/v1/messages";

export async function benchCompaction(): Promise<void> {
  const rows: Record<string, Record<string, string | number>> = {};
  for (const kind of ["notes", "summary"] as const) {
    const service = await startBenchService(
      { ...NOTES[kind], CONTEXT_WINDOW_TOKENS: WINDOW },
      ({ purpose }) =>
        purpose === "compaction" ? { text: SUMMARY, delayMs: THINK_MS } : undefined,
    );
    const session = await service.session("harbour", "on");
    const all: RecordedRequest[] = [];
    const compactions: { ms: number; after: RecordedRequest }[] = [];
    for (let n = 1; n <= TURNS; n += 1) {
      const before = session.seen(COMPACTED);
      const { asked } = await session.turn(`${n}. ${WORDS}`);
      const requests = service.requests();
      all.push(...requests);
      const main = requests.findLast(({ purpose, path }) => purpose === "main" && path === PATH);
      if (main && session.seen(COMPACTED) > before) {
        compactions.push({ ms: asked, after: main });
      }
    }
    // The notes of the last turn still run.
    await new Promise((resolve) => setTimeout(resolve, 2 * THINK_MS));
    all.push(...service.requests());
    const of = (purpose: string) =>
      all.filter((request) => request.purpose === purpose && request.path === PATH);
    const extra = [...of("compaction"), ...of("session-notes")];
    const after = compactions.map((each) => each.after);
    rows[kind] = {
      compactions: compactions.length,
      "summary calls": of("compaction").length,
      "notes calls": of("session-notes").length,
      "tokens in, not cached": sum(extra, uncached),
      "tokens in, cached": sum(extra, ({ usage }) => usage?.cache_read_input_tokens ?? 0),
      "tokens out": sum(extra, ({ usage }) => usage?.output_tokens ?? 0),
      "wait for the next call, ms": Math.round(median(compactions.map(({ ms }) => ms))),
      "turn after: cached": Math.round(
        median(after.map(({ usage }) => usage?.cache_read_input_tokens ?? 0)),
      ),
      "turn after: in all": Math.round(median(after.map(totalOf))),
    };
    await service.close();
  }
  const names = Object.keys(rows.notes ?? {});
  console.log(`${"".padEnd(28)}${"notes".padStart(10)}${"summary".padStart(10)}`);
  for (const name of names) {
    const cells = ["notes", "summary"].map((kind) => String(rows[kind]?.[name] ?? "").padStart(10));
    console.log(`${name.padEnd(28)}${cells.join("")}`);
  }
}

function uncached({ usage }: RecordedRequest): number {
  return (usage?.input_tokens ?? 0) + (usage?.cache_creation_input_tokens ?? 0);
}

function totalOf(request: RecordedRequest): number {
  return uncached(request) + (request.usage?.cache_read_input_tokens ?? 0);
}

function sum(requests: readonly RecordedRequest[], of: (request: RecordedRequest) => number) {
  return requests.reduce((total, request) => total + of(request), 0);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
