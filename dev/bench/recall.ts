// What recall costs: the wait for the first byte of an answer, calls to R2, and tokens; each beside the
// same turn without it. "Off" is a session whose searches are marked as done before its first turn, as
// a crash after them would leave it: message, memory and prompt are the same, and no search begins.

import {
  type BenchService,
  type BenchSession,
  type Moments,
  startBenchService,
} from "./recall-service.ts";

const QUESTION = "How is the release built and who has to agree?";
/** Long enough for the attachment to be there at the first model call. */
const WAIT_MS = "20000";
const TIMED_COUNTS = [200, 2000];
const ROUNDS = 30;
/** Until the first byte of the model and of the selector, in milliseconds: at once, and like a real one. */
const SPEEDS = [
  { mainMs: 0, recallMs: 0 },
  { mainMs: 400, recallMs: 500 },
];
/** For what a turn leaves behind. */
const PAUSE_MS = 50;
const COST_COUNTS = [10, 200, 2000];
const COST_TURNS = 5;

export async function benchRecall(): Promise<void> {
  const timed = await startBenchService({ RECALL_WAIT_MS: "0" });
  for (const count of TIMED_COUNTS) await firstBytes(timed, count);
  await timed.close();
  const waiting = await startBenchService({ RECALL_WAIT_MS: WAIT_MS });
  await costs(waiting);
  await storageCalls(waiting);
  await waiting.close();
}

async function firstBytes(service: BenchService, count: number): Promise<void> {
  const workspace = `n${count}`;
  await service.fill(workspace, count);
  const kinds = ["on", "off", "off"] as const;
  const sessions: BenchSession[] = [];
  for (const kind of kinds) {
    const session = await service.session(workspace, kind);
    const { idle } = await session.turn("hello");
    if (sessions.length === 0) {
      console.log(`${count} memories: the first turn of all took them in in ${idle.toFixed(0)} ms`);
    }
    sessions.push(session);
  }
  for (const speed of SPEEDS) {
    Object.assign(service.model, speed);
    service.requests();
    const rounds: Moments[][] = [];
    for (let n = 0; n < ROUNDS; n += 1) rounds.push(await oneRound(sessions, n));
    const searches = service.requests().filter(({ purpose }) => purpose === "recall").length;
    const { mainMs, recallMs } = speed;
    console.log(
      `  model begins after ${mainMs} ms, selector after ${recallMs} ms; ${searches} searches in ${ROUNDS} turns with recall`,
    );
    for (const moment of ["asked", "shown"] as const) {
      const [on = 0, off = 0, again = 0] = kinds.map((_, at) =>
        median(rounds.map((times) => times[at]?.[moment] ?? 0)),
      );
      const more = median(rounds.map(([a, b]) => (a?.[moment] ?? 0) - (b?.[moment] ?? 0)));
      const name = moment === "asked" ? "model is asked" : "client has first byte";
      console.log(
        `    ${name.padEnd(22)} on ${ms(on)}  off ${ms(off)}  off again ${ms(again)}  on/off ${(on / off).toFixed(3)}  off/off ${(again / off).toFixed(3)}  pairs differ by ${ms(more)}`,
      );
    }
  }
}

/** Each session has a turn; who begins moves on, and with it who comes after whom. */
async function oneRound(sessions: BenchSession[], n: number): Promise<Moments[]> {
  const places = sessions.map((_, at) => (at + n) % sessions.length);
  const order = n % 2 === 0 ? places : places.toReversed();
  const times: Moments[] = [];
  for (const at of order) {
    const moments = await sessions[at]?.turn(QUESTION);
    if (moments) times[at] = moments;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return times;
}

/** Simulated tokens (four bytes of UTF-8 each); those read from the cache count in full. */
async function costs(service: BenchService): Promise<void> {
  Object.assign(service.model, { mainMs: 0, recallMs: 0, choose: 5 });
  const bare = await tokensOf(service, await service.session("bare", "bare"));
  console.log(`\ntokens of one turn; in a bare session ${bare.main}`);
  console.log("  memories  prompt and index  attachment  main in all  selector in  out");
  let last: string | undefined;
  for (const count of COST_COUNTS) {
    last = `n${count}`;
    await service.fill(last, count);
    const off = await tokensOf(service, await service.session(last, "off"));
    const on = await tokensOf(service, await service.session(last, "on"));
    const cells = [count, off.main - bare.main, on.main - off.main, on.main, on.input, on.output];
    console.log(
      `  ${[8, 16, 10, 11, 11, 3].map((width, at) => String(cells[at]).padStart(width)).join("  ")}`,
    );
  }
  if (last === undefined) return;
  const off = await service.session(last, "off");
  const on = await service.session(last, "on");
  const held: number[] = [];
  for (let n = 0; n < COST_TURNS; n += 1) {
    held.push((await tokensOf(service, on)).main - (await tokensOf(service, off)).main);
  }
  console.log(`  attachments that a session of ${COST_TURNS} turns holds: ${held.join(", ")}`);
}

async function tokensOf(service: BenchService, session: BenchSession) {
  service.requests();
  await session.turn(QUESTION);
  const sum = { main: 0, input: 0, output: 0 };
  for (const { purpose, usage } of service.requests()) {
    if (!usage) continue;
    const input =
      usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
    if (purpose === "main") sum.main += input;
    if (purpose === "recall") sum.input += input;
    if (purpose === "recall") sum.output += usage.output_tokens;
  }
  return sum;
}

async function storageCalls(service: BenchService): Promise<void> {
  console.log("\nR2 calls of one turn after the first, in a workspace of 30 files");
  await service.fill("calls", 200, 30);
  for (const [name, kind, choose] of [
    ["no search", "off", 0],
    ["a search that chooses nothing", "on", 0],
    ["a search that chooses 5", "on", 5],
  ] as const) {
    const session = await service.session("calls", kind);
    await session.turn("hello");
    service.model.choose = choose;
    await service.calls();
    await session.turn(QUESTION);
    const calls = Object.entries(await service.calls());
    const of = (kind: string) =>
      calls.filter(([call]) => call.endsWith(kind)).reduce((sum, [, n]) => sum + n, 0);
    const what = calls.map(([call, n]) => `${call} ${n}`).join(", ");
    console.log(
      `  ${name.padEnd(30)} memory ${of("memory")}, checks in the workspace ${of("workspace")}  (${what || "none"})`,
    );
  }
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`;
}
