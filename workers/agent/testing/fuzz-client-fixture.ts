// One case of the interrupt fuzzing: a client that sends, answers and stops, and goes on whatever
// becomes of the object that it talks to.

import { env, runInDurableObject } from "cloudflare:test";
import { newId } from "../../../src/platform/ids.ts";
import { type MemdirStub, memdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { userOwner } from "../../../src/platform/objects/store-owner.ts";
import { workspaceMount } from "../../../src/platform/r2/mount-table.ts";
import type { ClientEvent } from "../contract/client-events.ts";
import { readMeta } from "../rows/meta.ts";
import { openActions } from "../rows/pending-actions.ts";
import { currentTurn } from "../rows/turns.ts";
import type { Session } from "../session/session.ts";
import type { Case, Live } from "./fuzz-object-fixture.ts";
import {
  arm,
  INTERRUPT,
  insteadOf,
  live,
  message,
  pause,
  strikesAt,
  taken,
  text,
} from "./fuzz-object-fixture.ts";
import type { Asked, Moment } from "./fuzz-script-fixture.ts";
import { BIG, LAST, planOf, randomOf, SEEDED, scriptOf } from "./fuzz-script-fixture.ts";
import { newMeta } from "./meta-fixture.ts";
import { object, owner, stub } from "./session-object-fixture.ts";

/** Runs a case to its end; throws where the session comes to none. */
export async function runCase(seed: number): Promise<Case> {
  const own = await begin(seed);
  try {
    for (let turn = 1; turn <= own.plan.turns; turn += 1) {
      await say(own, `Please do piece ${turn} of the work.`);
      // Compacts at the turn's next step; whether or not the answer is heard.
      if (own.plan.smallWindow && own.random.chance(0.5))
        void stub(own.id)
          .compact()
          .catch(() => {});
      if (strikesAt(own, "acknowledged")) await strikeFromOutside(own);
      if (strikesAt(own, "soon")) {
        await pause(own.random.below(30));
        await strikeFromOutside(own);
      }
      await untilIdle(own);
    }
    // A moment that did not come is one in which nothing runs.
    while (own.strikes.length > 0) {
      await strikeFromOutside(own, "idle");
      await untilIdle(own);
    }
    await say(own, LAST);
    await untilIdle(own);
    return own;
  } finally {
    live.delete(own.id);
  }
}

async function begin(seed: number): Promise<Live> {
  const plan = planOf(seed);
  const id = newId("sesn");
  const workspace = `/workspace/${id}`;
  unwrap(
    await stub(id).create(
      {
        ...newMeta(id),
        environmentId: id,
        projectRoot: workspace,
        permissionMode: plan.mode,
        midTurnMessages: plan.joins ? "join" : "queue",
        clientTools: plan.clientTool
          ? [{ name: "Map", description: "A map", input_schema: { type: "object" } }]
          : [],
      },
      [],
    ),
  );
  const place = await runInDurableObject<Session, { directory: string; storeId: string }>(
    object(id),
    (_instance, { storage }) => {
      const { memory } = readMeta(storage.sql);
      if (!memory.enabled) throw new Error("no memory");
      return memory;
    },
  );
  const memory = memdirStub(env, userOwner(owner), place.storeId);
  await seedFiles(id, memory);
  const asked: Asked[] = [];
  const own: Live = {
    id,
    plan,
    memory,
    asked,
    said: [],
    interrupts: 0,
    refused: [],
    requests: 0,
    puts: new Map(),
    struck: [],
    script: scriptOf(plan, { workspace, memory: place.directory }, asked),
    random: randomOf(seed + 2_000_003),
    strikes: [...plan.strikes],
    passed: 0,
    more: 0,
    coming: 0,
    dead: false,
    first: undefined,
    strike: () => {},
  };
  live.set(id, own);
  await arm(own);
  return own;
}

async function seedFiles(id: string, memory: MemdirStub): Promise<void> {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const { store } = workspaceMount(env.FILES, { ...owner, role: "member" }, id);
  const actor = { type: "user", userId: "ann" } as const;
  const names = Array.from({ length: SEEDED }, (_, n) => `old-${n}.md`);
  for (const path of [...names, "log-0.md", "log-1.md"]) {
    const content = `---\nname: ${path}\ndescription: about ${path}\ntype: user\n---\n\nEND\n`;
    await store.put(path, bytes(content));
    unwrap(await memory.write({ path, bytes: bytes(content), actor }));
  }
  await store.put("big.md", bytes(BIG));
}

/** As a client does it, and as a machine that goes down, at no moment that the object knows of. */
async function strikeFromOutside(own: Live, as?: Moment): Promise<void> {
  const at = as ?? own.strikes[0]?.at;
  const strike = at && taken(own, at);
  for (const [n, deed] of (strike?.deeds ?? []).entries()) {
    if (n > 0) await pause(strike?.gapMs ?? 0);
    if (deed === "interrupt") await interrupt(own);
    if (deed === "kill") {
      await runInDurableObject(object(own.id), () => own.strike(["kill"], 0)).catch(() => {});
    }
    if (deed === "message") await say(own, insteadOf(own));
  }
}

/** Sends until it is acknowledged; what was acknowledged already is not taken a second time. */
async function say(own: Live, words: string): Promise<void> {
  const key = newId("sevt");
  unwrap(await insist(own, () => stub(own.id).send([message(words)], { key, hash: key })));
  own.said.push(words);
}

async function interrupt(own: Live): Promise<void> {
  await insist(own, () => {
    own.interrupts += 1;
    return stub(own.id).send([INTERRUPT], undefined);
  });
}

async function insist<T>(own: Live, call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    if (own.dead) await revive(own);
    try {
      return await call();
    } catch (error) {
      if (tries > 20) throw error;
      await pause(1);
    }
  }
}

/** The object that was killed is started again by whoever comes first. */
async function revive(own: Live): Promise<void> {
  own.dead = false;
  const { first } = own;
  own.first = undefined;
  await arm(own);
  if (first === "interrupt") await interrupt(own);
}

async function untilIdle(own: Live): Promise<void> {
  const until = Date.now() + 20_000;
  while (Date.now() < until) {
    const { status } = unwrap(await insist(own, () => stub(own.id).retrieve()));
    if (status === "idle" && own.coming === 0 && !own.dead) {
      const waiting = await waits(own);
      if (waiting.length === 0) return;
      if (strikesAt(own, "approval")) await strikeFromOutside(own);
      else await answerOne(own, waiting);
    }
    await pause(5);
  }
  throw new Error("It did not come to rest");
}

/** The calls that wait, each with who has to answer it. */
function waits(own: Live): Promise<{ id: string; kind: string }[]> {
  return insist(own, () =>
    runInDurableObject<Session, { id: string; kind: string }[]>(
      object(own.id),
      (_instance, { storage: { sql } }) => {
        const turn = currentTurn(sql);
        return (turn ? openActions(sql, turn.n).eventIds : []).map((id) => ({
          id,
          ...sql
            .exec<{ kind: string }>("SELECT kind FROM pending_actions WHERE event_id = ?", id)
            .one(),
        }));
      },
    ),
  );
}

async function answerOne(own: Live, waiting: { id: string; kind: string }[]): Promise<void> {
  const { random } = own;
  const { id, kind } = waiting[random.below(waiting.length)] ?? { id: "", kind: "" };
  if (random.chance(0.1)) return interrupt(own);
  const event: ClientEvent =
    kind === "client"
      ? { type: "user.custom_tool_result", custom_tool_use_id: id, content: [text("here")] }
      : {
          type: "user.tool_confirmation",
          tool_use_id: id,
          result: random.chance(0.7) ? "allow" : "deny",
        };
  // One that was taken before the object died is refused the second time.
  await insist(own, () => stub(own.id).send([event], undefined));
}
