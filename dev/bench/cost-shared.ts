import { randomUUID } from "node:crypto";
import { type BenchSession, createBenchSession, ORG } from "./bench-session.ts";
import type { CostModel } from "./cost-model.ts";
import { pause } from "./figures.ts";
import { sseEvents } from "./sse.ts";
import type { BenchWorker } from "./start-worker.ts";

/** What the parts of the bench have in common. */
export interface Cost {
  model: CostModel;
  bare: BenchWorker;
  ours: BenchWorker;
  add(what: string, cells: Cells): void;
}

/** One row of the table: the bare Worker, the service without memory, with none in it, with 200. */
export interface Cells {
  bare?: string;
  without?: string;
  empty?: string;
  full?: string;
}

export const USER = "cost";
/** The workspace with the memories. */
export const FULL = "full";
export const MEMORIES = 200;

export type Kind = "without" | "empty" | "full";

/** `full`: in the workspace that `fillMemories` filled. */
export function sessionOfKind(worker: BenchWorker, kind: Kind): Promise<BenchSession> {
  const workspace = kind === "full" ? FULL : `w-${randomUUID().slice(0, 8)}`;
  return createBenchSession(worker, USER, { workspace, bare: kind === "without" });
}

export async function bareTurn({ url }: BenchWorker, text: string) {
  const from = performance.now();
  const response = await fetch(url, { method: "POST", body: text });
  const turn = { shownMs: Number.NaN, idleMs: 0, deltas: 0, text: "" };
  for await (const event of sseEvents(response)) {
    if (event.type !== "content_block_delta") continue;
    if (turn.deltas === 0) turn.shownMs = performance.now() - from;
    turn.deltas += 1;
    const { delta } = event as { delta?: { text?: string } };
    turn.text += delta?.text ?? "";
  }
  turn.idleMs = performance.now() - from;
  return turn;
}

/** Puts the memories into the bucket: the next session there takes them in, which is waited for. */
export async function fillMemories(worker: BenchWorker): Promise<void> {
  const session = await sessionOfKind(worker, "full");
  const files = Array.from({ length: MEMORIES }, (_, n) => [
    `t/${ORG}/u/${USER}${session.memory}/decision-${n}.md`,
    `---\nname: decision ${n}\ndescription: why part ${n} is built in two steps\ntype: project\n---\n\n${"How this came to be.\n".repeat(25)}`,
  ]);
  await session.close();
  const response = await fetch(`${worker.url}/bench/files`, {
    method: "POST",
    body: JSON.stringify(files),
  });
  if (!response.ok) throw new Error(`/bench/files answered ${response.status}`);
  const first = await sessionOfKind(worker, "full");
  await first.turn("hello");
  await first.close();
  await pause(2000);
}

/** Waits until the model has had so many requests of an extraction, and a little for its end. */
export async function untilExtracted({ sent }: CostModel, requests: number): Promise<void> {
  const until = Date.now() + 5_000;
  while ((sent.get("extraction")?.requests ?? 0) < requests && Date.now() < until) await pause(10);
  await pause(100);
}
