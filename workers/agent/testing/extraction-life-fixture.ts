// An extraction in the object of its session, watched step by step and killed after any of them.

import { env, evictDurableObject, runInDurableObject } from "cloudflare:test";
import { afterEach, expect } from "vitest";
import { newId } from "../../../src/platform/ids.ts";
import { memdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import type { ExtractReply } from "../../../src/platform/objects/session-rpc.ts";
import { userOwner } from "../../../src/platform/objects/store-owner.ts";
import { appendEntry } from "../../../src/platform/threads/entries.ts";
import type { AgentSettings } from "../../../src/platform/variables.ts";
import type { LoopOutcome } from "../../../src/shared/loop/steps.ts";
import { MODEL as SAID, USER } from "../../../src/shared/thread/entry.ts";
import { extract } from "../extraction/extract.ts";
import { appendEvent } from "../rows/events.ts";
import { changeExtraction, endTurnMark } from "../rows/extraction-state.ts";
import { readMeta } from "../rows/meta.ts";
import { mainThread } from "../rows/session-threads.ts";
import { addTurn, changeTurn } from "../rows/turns.ts";
import type { Session } from "../session/session.ts";
import type { SessionContext } from "../setup/session-context.ts";
import { contextOf, MODEL } from "./context-fixture.ts";
import { server, withForkModel } from "./fork-model-fixture.ts";
import { newMeta } from "./meta-fixture.ts";
import { object, owner, stub } from "./session-object-fixture.ts";

/** Sessions to be cleared after a test. */
export const made: string[] = [];

/** The model's server, and sessions that go with their test; to be called once at the top of a file. */
export function withExtractions(): void {
  withForkModel();
  afterEach(async () => {
    for (const id of made.splice(0)) await stub(id).destroy();
  });
}

export interface Life {
  sql: SqlStorage;
  store: string;
  ports(): SessionContext;
  memory(): ReturnType<typeof memdirStub>;
  /** Lets time pass for the runs that follow. */
  later(ms: number): void;
  /**
   * Runs what is due; after its `dieAt`th step of any kind, or the first of this name, it is dead, and
   * never learns of it.
   */
  run(options?: {
    dieAt?: number | string;
    settings?: Partial<AgentSettings>;
  }): Promise<{ reply: ExtractReply; died: boolean; steps: string[] }>;
  /** The memory's lease is nobody's. */
  expectFree(): Promise<void>;
}

/** What a session's object is to an extraction, in that object. */
function lifeOf(state: DurableObjectState): Life {
  const { sql } = state.storage;
  const { memory } = readMeta(sql);
  const store = memory.enabled ? memory.storeId : "";
  let offset = 0;
  const base = () => contextOf(state.storage, { now: () => Date.now() + offset });
  const stubOf = () => memdirStub(env, userOwner(owner), store);
  return {
    sql,
    store,
    ports: base,
    memory: stubOf,
    later(ms) {
      offset += ms;
    },
    async run({ dieAt = Number.POSITIVE_INFINITY, settings = {} } = {}) {
      const steps: string[] = [];
      // What is dead waits for nothing either.
      const dead = new AbortController();
      const die = (how: string) => {
        dead.abort();
        throw new Error(how);
      };
      const isDead = (done = steps.length) =>
        steps.lastIndexOf(String(dieAt)) >= 0 || done >= Number(dieAt);
      const begin = (name: string) => {
        if (isDead()) die("It is dead");
        steps.push(name);
        const own = steps.length;
        return () => {
          if (isDead(own)) die("It died");
        };
      };
      const later = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
        const end = begin(name);
        const result = await work();
        end();
        return result;
      };
      const ports = base();
      const heard = server.atModel;
      server.atModel = (answer) => later("model", () => (heard ? heard(answer) : answer()));
      const reply = await extract(
        {
          ...ports,
          settings: { ...ports.settings, ...settings },
          env: { ...env, MEMDIR: watched(later) },
          commit(write) {
            const end = begin("commit");
            const result = ports.commit(write);
            end();
            return result;
          },
        },
        false,
        dead.signal,
      ).catch((): ExtractReply => ({ status: "none" }));
      server.atModel = heard;
      return { reply, died: isDead(), steps };
    },
    async expectFree() {
      const reply = unwrap(await stubOf().acquire("extraction", "probe", 60_000));
      expect(reply.status).toBe("granted");
      if (reply.status === "granted") await stubOf().release("extraction", reply.token);
    },
  };
}

/** The memory directories, each call of which is a step. */
function watched(
  step: <T>(name: string, work: () => Promise<T>) => Promise<T>,
): DurableObjectNamespace {
  const get = (id: DurableObjectId) => {
    const real = env.MEMDIR.get(id) as unknown as Record<
      string,
      (...args: unknown[]) => Promise<unknown>
    >;
    return new Proxy(
      {},
      {
        get:
          (_target, name: string) =>
          (...args: unknown[]) =>
            step(`memdir.${name}`, async () => real[name]?.(...args)),
      },
    );
  };
  return {
    idFromName: (name: string) => env.MEMDIR.idFromName(name),
    get,
  } as unknown as DurableObjectNamespace;
}

/** A turn as it stands when it has ended; nobody is told yet that it is due. */
export function endedTurn(
  sql: SqlStorage,
  said: string,
  outcome: LoopOutcome = { reason: "end_turn" },
): void {
  const content = [{ type: "text" as const, text: said }];
  const event = appendEvent(sql, { type: "user.message", content }, 1);
  addTurn(sql, event);
  const { n } = sql.exec<{ n: number }>("SELECT max(n) AS n FROM turns").one();
  changeTurn(sql, n, { status: "done" });
  const answer = [{ type: "text" as const, text: "I see." }];
  appendEntry(mainThread(sql), n, { origin: USER, message: { role: "user", content } });
  appendEntry(mainThread(sql), n, {
    origin: SAID,
    message: { role: "assistant", content: answer },
  });
  endTurnMark(sql, n, outcome, { everyTurns: 1, overBudget: false }, 1);
  changeExtraction(sql, { resendAt: Date.now() + 1_000_000 });
}

/** A session of its own, with a memory of its own. */
export async function session(): Promise<string> {
  const id = newId("sesn");
  made.push(id);
  const meta = { ...newMeta(id), environmentId: id, projectRoot: `/workspace/${id}` };
  expect(await stub(id).create(meta, [])).toMatchObject({ ok: true });
  return id;
}

/** Lets the session's own calls reach the model. */
export async function withModel(id: string): Promise<void> {
  await evictDurableObject(object(id));
  await runInDurableObject(object(id), (instance) => {
    Reflect.set(instance, "env", { ...env, ...MODEL });
  });
}

export function inside<T>(id: string, work: (life: Life) => T | Promise<T>): Promise<T> {
  return runInDurableObject<Session, T>(object(id), (_instance, state) => work(lifeOf(state)));
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
