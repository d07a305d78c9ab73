// The object of a session that is struck at random moments: each piece of an answer, each call to the
// files or the memory and each record is a moment. What it is built of is real but the model.

import { env, runInDurableObject } from "cloudflare:test";
import { createFakeModel } from "../../../dev/fake-model/fake-model.ts";
import type { MemdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import type { AgentEnv } from "../../env.ts";
import type { ClientEvent } from "../contract/client-events.ts";
import type { Session } from "../session/session.ts";
import type { Asked, Deed, Moment, Plan, Random, Strike, scriptOf } from "./fuzz-script-fixture.ts";
import { object } from "./session-object-fixture.ts";

declare global {
  namespace Cloudflare {
    interface Env extends AgentEnv {
      FUZZ_CASES: string;
      FUZZ_SEED: string;
    }
  }
}

const MODEL = { ANTHROPIC_API_KEY: "demo-model", ANTHROPIC_BASE_URL: "http://model.test" };
export const INTERRUPT: ClientEvent = { type: "user.interrupt" };

/** Calls to the files and the memory that change something. */
const EFFECTS = new Set(["put", "delete", "write", "remove"]);
/** The part of a slow answer's pieces that come late. */
const PAUSES = 0.1;

export interface Case {
  id: string;
  plan: Plan;
  memory: MemdirStub;
  /** Changes that the model asked for, whether or not its answer was ever recorded. */
  asked: Asked[];
  /** What was said and acknowledged. */
  said: string[];
  /** Interrupts that were sent, acknowledged or not. */
  interrupts: number;
  /** Requests that the model's server refused, with its reason. */
  refused: string[];
  requests: number;
  /** Writes to the bucket that took place, by key and content. */
  puts: Map<string, number>;
  /** Moments that were struck, and how. */
  struck: { at: Moment; deeds: readonly Deed[] }[];
}

/** A case that is under way. */
export interface Live extends Case {
  script: ReturnType<typeof scriptOf>;
  random: Random;
  strikes: Strike[];
  passed: number;
  /** Messages that came with strikes. */
  more: number;
  /** Deeds that are still to come in the object. */
  coming: number;
  dead: boolean;
  /** What a client does first at the object that was killed. */
  first: Deed | undefined;
  strike(deeds: readonly Deed[], gapMs: number): void;
}

/** By the id of the session. */
export const live = new Map<string, Live>();
const model = createFakeModel({
  recordLimit: 1,
  reply: (call) =>
    call.purpose === "main" ? live.get(call.session ?? "")?.script(call) : undefined,
});

/** The model's server, where a session asks for it. */
export async function answer(request: Request): Promise<Response> {
  const own = live.get(request.headers.get("x-memdir-session") ?? "");
  const purpose = request.headers.get("x-memdir-purpose");
  if (own && purpose === "main") own.requests += 1;
  const squeezing = purpose === "compaction" || request.url.endsWith("count_tokens");
  if (own && squeezing) pass(own, "compaction");
  const response = await model.handle(request);
  // Whatever a request may be refused for, it must not be for what it says.
  if (own && response.status === 400)
    own.refused.push(`${purpose} ${request.url}: ${await response.clone().text()}`);
  if (!own || !response.body) return response;
  const decoder = new TextDecoder();
  const body = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      async transform(chunk, controller) {
        if (own.plan.slow && Math.random() < PAUSES) await pause(1);
        controller.enqueue(chunk);
        if (squeezing) pass(own, "compaction");
        if (purpose !== "main") return;
        const ends = decoder.decode(chunk, { stream: true }).includes("message_stop");
        pass(own, ends ? "answer's end" : "token");
      },
    }),
  );
  return new Response(body, response);
}

/** Makes each step of the object that there is now a moment that may be struck. */
export function arm(own: Live): Promise<void> {
  return runInDurableObject<Session, void>(object(own.id), (instance, state) => {
    const { plan } = own;
    Reflect.set(instance, "env", {
      ...env,
      ...MODEL,
      EXTRACTION_EVERY_TURNS: plan.extracts ? "1" : "0",
      ...(plan.smallWindow ? { CONTEXT_WINDOW_TOKENS: "12000" } : {}),
      FILES: watchedBucket(own),
      MEMDIR: watchedMemory(own),
    });
    const { storage } = state;
    const transactionSync = <T>(write: () => T): T => {
      const result = storage.transactionSync(write);
      pass(own, "record");
      return result;
    };
    Reflect.set(instance, "ctx", over(state, { storage: over(storage, { transactionSync }) }));
    const kill = () => {
      own.dead = true;
      own.coming = 0;
      state.abort("killed");
    };
    const act = ([deed, ...more]: readonly Deed[], gapMs: number) => {
      if (own.dead) return;
      own.coming -= 1;
      if (deed === "kill") return kill();
      if (deed === "message") {
        const words = insteadOf(own);
        own.said.push(words);
        void instance.send([message(words)], undefined);
      } else {
        own.interrupts += 1;
        void instance.send([INTERRUPT], undefined);
      }
      if (more.length > 0) setTimeout(() => act(more, gapMs), gapMs);
    };
    own.strike = (deeds, gapMs) => {
      if (deeds[0] === "kill") {
        own.first = deeds[1];
        return kill();
      }
      own.coming = deeds.length;
      // Nothing arrives in the middle of a synchronous piece of work.
      soon(own, () => act(deeds, gapMs));
    };
  });
}

/** Words that nobody has said before. */
export function insteadOf(own: Live): string {
  own.more += 1;
  return `Do ${own.more} instead.`;
}

function soon(own: Live, work: () => void): void {
  if (own.random.chance(0.5)) queueMicrotask(work);
  else setTimeout(work, own.random.below(3));
}

/** The object comes to a moment of this kind. */
function pass(own: Live, at: Moment): void {
  if (own.dead || own.coming > 0 || !strikesAt(own, at)) return;
  own.passed += 1;
  if (own.passed < (own.strikes[0]?.nth ?? 1)) return;
  const strike = taken(own, at);
  if (strike) own.strike(strike.deeds, strike.gapMs);
}

export function strikesAt(own: Live, at: Moment): boolean {
  return own.strikes[0]?.at === at;
}

export function taken(own: Live, at: Moment): Strike | undefined {
  const strike = own.strikes.shift();
  own.passed = 0;
  if (strike) own.struck.push({ at, deeds: strike.deeds });
  return strike;
}

function watchedBucket(own: Live): R2Bucket {
  return new Proxy(env.FILES, {
    get: (bucket, name) => {
      const call: unknown = Reflect.get(bucket, name);
      if (typeof call !== "function") return call;
      return async (...args: unknown[]) => {
        pass(own, "tool begins");
        const result: unknown = await Reflect.apply(call, bucket, args);
        if (name === "put" && result) {
          const put = `${String(args[0])} ${String(Reflect.get(Object(result), "etag"))}`;
          own.puts.set(put, (own.puts.get(put) ?? 0) + 1);
        }
        if (EFFECTS.has(String(name))) pass(own, "tool's effect");
        return result;
      };
    },
  });
}

function watchedMemory(own: Live): AgentEnv["MEMDIR"] {
  const watch = (real: object) =>
    new Proxy(real, {
      get:
        (_target, name) =>
        async (...args: unknown[]) => {
          pass(own, "memory begins");
          const call: unknown = Reflect.get(real, name);
          const result: unknown = typeof call === "function" ? await call(...args) : undefined;
          if (EFFECTS.has(String(name))) pass(own, "memory's effect");
          return result;
        },
    });
  return over(env.MEMDIR, {
    idFromName: (name: string) => env.MEMDIR.idFromName(name),
    get: ((id: DurableObjectId) => watch(env.MEMDIR.get(id))) as AgentEnv["MEMDIR"]["get"],
  });
}

/** The same object, some of it replaced. */
function over<T extends object>(real: T, own: Partial<T>): T {
  return new Proxy(real, {
    get: (target, name) => {
      if (Object.hasOwn(own, name)) return Reflect.get(own, name);
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

export function message(words: string): ClientEvent {
  return { type: "user.message", content: [text(words)] };
}

export function text(words: string) {
  return { type: "text" as const, text: words };
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
