// Turns that state, correct, forget and delete, in any order, beside forks that are slow, killed and
// doubled. At rest no memory states what the user took back later, and nothing deleted has come back.
// LASTWORD_SEED is the first case's, LASTWORD_CASES how many follow.

import { env } from "cloudflare:test";
import { expect, test } from "vitest";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { markWrote } from "../rows/extraction-state.ts";
import { readMeta } from "../rows/meta.ts";
import { changeTurn, currentTurn, userWords } from "../rows/turns.ts";
import { writeLanded } from "../rows/write-in-flight.ts";
import {
  endTurnAs,
  inside,
  type Life,
  made,
  saidMeanwhile,
  session,
  withExtractions,
} from "../testing/extraction-life-fixture.ts";
import {
  faithfulMind,
  forgetText,
  lastWords,
  memoryOf,
  stateText,
} from "../testing/faithful-mind-fixture.ts";
import { model, server } from "../testing/fork-model-fixture.ts";
import { stub } from "../testing/session-object-fixture.ts";

declare global {
  namespace Cloudflare {
    interface Env {
      LASTWORD_CASES: string;
      LASTWORD_SEED: string;
    }
  }
}

withExtractions();

const CASES = Number(env.LASTWORD_CASES);
const SEED = Number(env.LASTWORD_SEED);
const ALL_TOPICS = ["vault", "release"];
const VALUES = ["Oslo", "Turku", "Rome", "Bern", "Kyoto"];
const ann = { type: "user", userId: "ann" } as const;

test("at rest nothing says what was taken back, and nothing deleted is back", {
  timeout: 60_000 + CASES * 5_000,
}, async () => {
  const sums = { runs: 0, deaths: 0, refused: 0, saved: 0 };
  for (let seed = SEED; seed < SEED + CASES; seed += 1) {
    const id = await session();
    await inside(id, (life) => play(life, seed, sums));
    model.reset();
    await stub(made.pop() ?? id).destroy();
  }
  console.log(`last word, seed ${SEED}: ${CASES} cases, ${JSON.stringify(sums)}`);
  expect(sums.saved).toBeGreaterThan(CASES / 3);
  expect(sums.refused).toBeGreaterThan(CASES / 8);
});

type Sums = { runs: number; deaths: number; refused: number; saved: number };

async function play(life: Life, seed: number, sums: Sums): Promise<void> {
  const chance = chanceOf(seed);
  const pick = <T>(all: readonly T[]): T => all[Math.floor(chance() * all.length)] as T;
  const { sql } = life;
  // More happens to one topic than to two.
  const topics = ALL_TOPICS.slice(seed % 2);
  const story: string[] = [];
  /** What has to hold in the end: what was last said of a topic, or that it was deleted after that. */
  const truth = new Map<string, string | undefined>();
  const words = new Map<string, string | undefined>();
  let said = 0;

  const say = () => {
    const topic = pick(topics);
    const text = chance() < 0.45 ? forgetText(topic) : stateText(topic, pick(VALUES));
    said += 1;
    story.push(`say ${said} ${text}`);
    saidMeanwhile(sql, `${said}: ${text}`);
    for (const [about, value] of lastWords(text)) {
      words.set(about, value);
      truth.set(about, value);
    }
  };
  const remove = async () => {
    const topic = pick(topics);
    const reply = unwrap(await life.memory().remove({ path: `${topic}.md`, actor: ann }));
    story.push(`delete ${topic}: ${reply.status}`);
    if (reply.status !== "removed") return;
    truth.set(topic, undefined);
    unwrap(await life.memory().reconcile(ann));
  };
  /** The main agent answers what is queued: it obeys at once, or leaves it to a fork. */
  const answer = async () => {
    await writeLanded(sql);
    const turn = currentTurn(sql);
    if (!turn) return;
    changeTurn(sql, turn.n, { status: "running", startedAt: Date.now() });
    const text = userWords(sql, turn)[0]?.text ?? "";
    const actor = { type: "session", sessionId: readMeta(sql).id, by: "agent" } as const;
    for (const [topic, value] of lastWords(text)) {
      const path = `${topic}.md`;
      const there = unwrap(await life.memory().head(path));
      let wrote = false;
      if (value === undefined) {
        wrote = unwrap(await life.memory().remove({ path, actor })).status === "removed";
      } else if (chance() < 0.25) {
        const bytes = new TextEncoder().encode(memoryOf(topic, value));
        const condition = there ? { ifMatch: there.sha256 } : { ifAbsent: true as const };
        const reply = unwrap(await life.memory().write({ path, bytes, actor, condition }));
        wrote = reply.status === "written" || reply.status === "unchanged";
        // Somebody deleted it after it was said: made anew, it has to follow what was said again.
        if (wrote) truth.set(topic, words.get(topic));
      }
      if (wrote) {
        unwrap(await life.memory().reconcile(actor));
        markWrote(sql, turn.n);
      }
      story.push(`answer ${turn.n}${wrote ? ", written" : ""}`);
    }
    endTurnAs(sql, turn.n, text);
  };

  let late: readonly unknown[] | undefined;
  /** Something happens while a fork thinks, or as it writes. */
  const run = async (quiet: boolean) => {
    let left = quiet ? 0 : 2;
    server.atModel = async (reply) => {
      const response = await reply();
      if (left > 0 && chance() < 0.7) {
        left -= 1;
        await pick([say, say, remove, answer])();
        if (chance() < 0.8) await answer();
      }
      return response;
    };
    const atMemory = async (call: string, args: readonly unknown[]) => {
      if (call !== "write") return;
      // It left before its run died, and arrives when another one has begun.
      const [again, ...none] = late ?? [];
      late = chance() < 0.3 ? args : undefined;
      if (again && none.length === 0) await life.memory().write(again as never);
      if (left > 0 && chance() < 0.3) {
        left -= 1;
        await pick([say, remove])();
      }
    };
    const dieAt = !quiet && chance() < 0.5 ? 8 + Math.floor(chance() * 32) : undefined;
    const { reply, died } = await life.run({ ...(dieAt === undefined ? {} : { dieAt }), atMemory });
    server.atModel = undefined;
    sums.runs += 1;
    sums.deaths += Number(died);
    story.push(`run: ${died ? "died" : reply.status}`);
    return died ? "died" : reply.status;
  };

  server.answers = faithfulMind;
  const rounds = 1 + Math.floor(chance() * 4);
  for (let n = 0; n < rounds; n += 1) {
    say();
    if (chance() < 0.3) say();
    await answer();
    if (chance() < 0.2) await remove();
    await run(false);
    if (chance() < 0.2) await answer();
  }
  while (currentTurn(sql)) await answer();
  for (let tries = 0; tries < 30; tries += 1) {
    const status = await run(true);
    if (status === "none") break;
  }
  const bodies = model.requests.map(({ body }) => JSON.stringify(body)).join("\n");
  sums.refused += Number(/was not saved: the user said|by somebody else after/.test(bodies));

  const where = `seed ${seed}\n${story.join("\n")}`;
  const index = await textAt(life, "MEMORY.md");
  for (const topic of topics) {
    const value = truth.get(topic);
    const found = /description: (\w+)/.exec((await textAt(life, `${topic}.md`)) ?? "")?.[1];
    sums.saved += Number(found !== undefined);
    if (found !== undefined) expect(`${topic} ${found}`, where).toBe(`${topic} ${value}`);
    if (value === undefined) expect(index ?? "", where).not.toContain(`(${topic}.md)`);
  }
}

function chanceOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4294967296;
  };
}

async function textAt(life: Life, path: string): Promise<string | undefined> {
  const found = unwrap(await life.memory().read(path));
  return found ? new TextDecoder().decode(found.bytes) : undefined;
}
