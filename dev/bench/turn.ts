// What the longest turn takes of the platform: subrequests and CPU time, beside what a Durable Object
// may have. Source of the limits: the platform's documentation, 2026-11-30.

import { startBenchService } from "./recall-service.ts";
import { runtimeCpu } from "./runtime-memory.ts";

const ITERATIONS = 50;
const RESCHEDULED = "session.status_rescheduled";
const MEMORIES = 50;
const SOURCES = 300;
const PROJECT = "release";
const ROOT = `/workspace/${PROJECT}`;
/** Of one invocation, on the paid plan. */
const SUBREQUESTS = 10_000;
/** Active CPU time of one invocation, by default. */
const CPU_MS = 30_000;

export async function benchTurn(): Promise<void> {
  let said = 0;
  const service = await startBenchService({}, ({ purpose }) => {
    if (purpose !== "main") return undefined;
    said += 1;
    // The last iteration of a turn is its answer.
    return said % ITERATIONS === 0 ? undefined : { text: "I work.", tools: toolsOf(said) };
  });
  await service.fill(PROJECT, MEMORIES, SOURCES);
  const session = await service.session(PROJECT, "on");
  // The first turn is answered at once.
  said = ITERATIONS - 1;
  await session.turn("hello there");
  let pauses = 0;
  for (let round = 1; round <= 3; round += 1) {
    await service.calls();
    service.requests();
    const cpu = runtimeCpu();
    const { idle } = await session.turn("Work through the release and its parts, please.");
    const spent = runtimeCpu() - cpu;
    const calls = await service.calls();
    const requests = service.requests();
    const own = Object.entries(calls).filter(([name]) => name.startsWith("Session "));
    const subrequests = own.reduce((sum, [, count]) => sum + count, 0) + requests.length;
    const parts = 1 + session.seen(RESCHEDULED) - pauses;
    pauses += parts - 1;
    console.log(
      `turn ${round}: ${requests.filter(({ purpose }) => purpose === "main").length} model calls, ${subrequests} subrequests in ${parts} invocations (${Math.ceil(subrequests / parts)} each, of ${SUBREQUESTS}), ${spent.toFixed(0)} ms of CPU in all processes of the runtime, of ${CPU_MS} for the object alone, ${idle.toFixed(0)} ms in all`,
    );
    const listed = own.toSorted(([, a], [, b]) => b - a).map(([name, n]) => `${name} ${n}`);
    console.log(`  ${[`model ${requests.length}`, ...listed].join(", ")}`);
  }
  await service.close();
}

/** Three readers and two writers, of the workspace and of the memory. */
function toolsOf(n: number) {
  const file_path = `${ROOT}/src/part-${n % SOURCES}.ts`;
  return [
    { name: "Read", input: { file_path } },
    { name: "Glob", input: { pattern: `**/part-${n % 10}*.ts`, path: ROOT } },
    { name: "Grep", input: { pattern: `buildPart${n % SOURCES}\\b`, path: ROOT } },
    { name: "Write", input: { file_path: `${ROOT}/out/${n}.md`, content: `Step ${n}.\n` } },
    { name: "Edit", input: { file_path, old_string: "return ", new_string: "return  " } },
  ];
}
