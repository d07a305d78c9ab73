// The service as it is, except that a bench can have the storage of its objects counted, and can do
// what no endpoint does: put files at once, make turns that were never talked, and save against R2.

import { memdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { storeObjectName, userOwner } from "../../../src/platform/objects/store-owner.ts";
import { historyPrefix, storeFiles } from "../../../src/platform/r2/mount-table.ts";
import { forgetState, transaction } from "../../../src/platform/state.ts";
import { variablesOf } from "../../../src/platform/variables.ts";
import { Account as RealAccount } from "../../../workers/agent/account/account.ts";
import { changeExtraction } from "../../../workers/agent/rows/extraction-state.ts";
import { Session as RealSession } from "../../../workers/agent/session/session.ts";
import type { AgentEnv, Env, SyncEnv } from "../../../workers/env.ts";
import service from "../../../workers/main.ts";
import { createLeases } from "../../../workers/sync/memdir/leases.ts";
import { Memdir as RealMemdir } from "../../../workers/sync/memdir/memdir.ts";
import { readStoreMeta } from "../../../workers/sync/memdir/meta.ts";
import { count, countStorage, takeCounts } from "./counted-storage.ts";
import { type Growth, growSession } from "./grow-session.ts";
import { type History, makeVersions } from "./make-versions.ts";
import { putFiles } from "./put-files.ts";

/** A variable of the bench: any value turns the counting on. */
type Counting = { BENCH_COUNTS?: string };

export class Account extends RealAccount {
  constructor(ctx: DurableObjectState, env: ConstructorParameters<typeof RealAccount>[1]) {
    if ((env as Counting).BENCH_COUNTS) countStorage(ctx, "Account");
    super(ctx, env);
  }
}

export class Memdir extends RealMemdir {
  constructor(ctx: DurableObjectState, env: SyncEnv) {
    if ((env as Counting).BENCH_COUNTS) countStorage(ctx, "Memdir");
    super(ctx, env);
  }

  /** While nobody else writes. */
  async remember(history: History): Promise<void> {
    const { storage } = this.ctx;
    const { meta } = readStoreMeta(storage.sql);
    const dir = {
      sql: storage.sql,
      files: storeFiles(this.env.FILES, meta.prefix),
      spilled: storeFiles(this.env.FILES, historyPrefix(meta.owner, meta.id)),
      sizes: this.sizes,
      meta,
      leases: createLeases(storage.sql, () => Date.now()),
      scan: async () => [],
      now: () => Date.now(),
      commit: <T>(change: () => T) => storage.transactionSync(change),
      afterReply: (rest: () => void) => rest(),
      later: () => {},
    };
    await makeVersions(dir, history);
  }
}

export class Session extends RealSession {
  /** Not counted. */
  readonly #own: DurableObjectStorage;

  constructor(ctx: DurableObjectState, env: AgentEnv) {
    const { storage } = ctx;
    if ((env as Counting).BENCH_COUNTS) countStorage(ctx, "Session");
    super(ctx, env);
    this.#own = storage;
  }

  override alarm(): Promise<void> {
    count("Session alarms fired");
    return super.alarm();
  }

  grow(growth: Growth): void {
    const { sql } = this.#own;
    forgetState(sql);
    transaction(this.#own, () => growSession(sql, variablesOf(this.env), growth));
    forgetState(this.ctx.storage.sql);
  }

  /** All turns are asked for, and the next try is far off: as in the middle of a long outage. */
  asked(upTo: number): void {
    const resendAt = Date.now() + 600_000;
    changeExtraction(this.ctx.storage.sql, { requested: upTo, sends: 6, outages: 6, resendAt });
  }

  /** The next call finds a new instance, which knows the rows and nothing else. */
  restart(): void {
    this.ctx.abort("restarted by a bench");
  }
}

export default {
  async fetch(request, env, ctx) {
    const { pathname, searchParams: query } = new URL(request.url);
    switch (pathname) {
      case "/bench/counts":
        return Response.json(takeCounts());
      case "/bench/files":
        await putFiles(env.FILES, await request.json<[key: string, text: string][]>());
        return Response.json({});
      case "/bench/grow":
        await sessionOf(env, query).grow(await request.json<Growth>());
        return Response.json({});
      case "/bench/asked":
        await sessionOf(env, query).asked(Number(query.get("turns")));
        return Response.json({});
      case "/bench/restart":
        await Promise.resolve(sessionOf(env, query).restart()).catch(() => {});
        return Response.json({});
      case "/bench/history":
        await memdirOf(env, query).remember(await request.json<History>());
        return Response.json({});
      case "/bench/saves":
        return Response.json(await saves(env, Number(query.get("count"))));
      default:
        return service.fetch(request, env, ctx);
    }
  },
  queue: service.queue,
  scheduled: service.scheduled,
} satisfies ExportedHandler<Env>;

function sessionOf(env: Env, query: URLSearchParams): Session {
  const stub = env.SESSION.get(env.SESSION.idFromName(query.get("name") ?? ""));
  return stub as unknown as Session;
}

function memdirOf(env: Env, query: URLSearchParams): Memdir {
  const owner = userOwner({ tenant: query.get("org") ?? "", user: query.get("user") ?? "" });
  const name = storeObjectName(owner, query.get("store") ?? "");
  return env.MEMDIR.get(env.MEMDIR.idFromName(name)) as unknown as Memdir;
}

/** Milliseconds of so many saves one after the other, and of as many bare puts of the same bytes. */
async function saves(env: Env, times: number): Promise<{ saves: number; puts: number }> {
  const owner = userOwner({ tenant: "bench", user: "saves" });
  const id = `memstore_${String(Date.now()).padStart(24, "1")}`;
  const prefix = `t/bench/u/saves/stores/${id}/`;
  const [createdAt, updatedAt, archivedAt] = [1, 1, null];
  const times_ = { createdAt, updatedAt, archivedAt };
  const stub = memdirStub(env, owner, id);
  const kind = "custom" as const;
  unwrap(
    await stub.open({
      owner,
      id,
      prefix,
      kind,
      name: "b",
      description: "",
      metadata: {},
      ...times_,
    }),
  );
  const spent = { saves: 0, puts: 0 };
  for (let n = 0; n < times; n += 1) {
    const bytes = new TextEncoder().encode(memoryOf(n));
    const from = performance.now();
    const actor = { type: "user" as const, userId: "saves" };
    const reply = unwrap(await stub.write({ path: `memory-${n}.md`, bytes, actor }));
    if (reply.status !== "written") throw new Error(`The save was ${reply.status}`);
    const saved = performance.now();
    await env.FILES.put(`t/bench/u/saves/w/puts/memory-${n}.md`, bytes);
    spent.saves += saved - from;
    spent.puts += performance.now() - saved;
  }
  return spent;
}

function memoryOf(n: number): string {
  const body = "One more sentence about how this came to be.\n".repeat(20);
  return `---\nname: memory ${n}\ndescription: what is known of subject ${n}\ntype: project\n---\n\n${body}`;
}
