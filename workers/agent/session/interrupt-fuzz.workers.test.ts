// Interrupts and kills at random moments of scripted turns with several tools. A case is a seed:
// FUZZ_SEED is the first one's, FUZZ_CASES how many follow.

import { env } from "cloudflare:test";
import { expect, test } from "vitest";
import { problemsOf } from "../testing/fuzz-checks-fixture.ts";
import { runCase } from "../testing/fuzz-client-fixture.ts";
import type { Case } from "../testing/fuzz-object-fixture.ts";
import { answer } from "../testing/fuzz-object-fixture.ts";
import { stub, withFetch } from "../testing/session-object-fixture.ts";

const CASES = Number(env.FUZZ_CASES);
const SEED = Number(env.FUZZ_SEED);
/** Cases side by side. */
const LANES = 3;

withFetch(answer);

test("struck at any moment, a session goes on: valid requests, whole pairs, no effect twice", {
  timeout: 900_000,
}, async () => {
  const problems: string[] = [];
  const cases: Case[] = [];
  let next = SEED;
  const lane = async () => {
    while (next < SEED + CASES && problems.length === 0) {
      const seed = next;
      next += 1;
      try {
        const done = await runCase(seed);
        cases.push(done);
        for (const each of await problemsOf(done)) problems.push(`seed ${seed}: ${each}`);
        await stub(done.id).destroy();
      } catch (error) {
        problems.push(`seed ${seed}: ${String(error)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  expect(problems).toEqual([]);
  console.log(summaryOf(cases));
});

function summaryOf(cases: readonly Case[]): string {
  const struck = cases.flatMap((each) => each.struck);
  const count = (keys: string[]) =>
    Object.entries(Object.groupBy(keys, (key) => key))
      .map(([key, all]) => `${key} ${all?.length}`)
      .join(", ");
  const sum = (of: (each: Case) => number) => cases.reduce((all, each) => all + of(each), 0);
  return [
    `interrupt fuzzing, seeds ${SEED} to ${SEED + CASES - 1}: ${struck.length} strikes`,
    `at: ${count(struck.map(({ at }) => at))}`,
    `by: ${count(struck.map(({ deeds }) => deeds.join(" + ")))}`,
    `${sum((each) => each.requests)} requests, ${sum((each) => each.asked.length)} changes asked for, ${sum((each) => each.said.length)} messages`,
  ].join("\n");
}
