// The service as it is, except that the calls of its objects to R2 and to each other are counted, and that a bench can do
// what no endpoint does: put files at once, and make a session search for nothing.

import { Account as RealAccount } from "../../../workers/agent/account/account.ts";
import { Session as RealSession } from "../../../workers/agent/session/session.ts";
import type { AgentEnv, Env, SyncEnv } from "../../../workers/env.ts";
import service from "../../../workers/main.ts";
import { Memdir as RealMemdir } from "../../../workers/sync/memdir/memdir.ts";
import { putFiles } from "./put-files.ts";

export class Account extends RealAccount {}

export class Memdir extends RealMemdir {
  constructor(ctx: DurableObjectState, env: SyncEnv) {
    super(ctx, { ...env, FILES: counted(env.FILES, "Memdir") });
  }
}

export class Session extends RealSession {
  constructor(ctx: DurableObjectState, env: AgentEnv) {
    super(ctx, {
      ...env,
      FILES: counted(env.FILES, "Session"),
      MEMDIR: asked(env.MEMDIR, "Memdir"),
      ACCOUNT: asked(env.ACCOUNT, "Account"),
    });
  }

  /** Each turn from here on counts as searched, as a crash after its search would leave it: none begins. */
  searched(): void {
    this.ctx.storage.sql.exec(`CREATE TRIGGER IF NOT EXISTS searched AFTER INSERT ON turns
      BEGIN UPDATE turns SET recalled_at = 0, recall = '{}' WHERE n = NEW.n; END`);
  }
}

/** How often each call was made, by who made it, its name and the kind of its key. */
const calls = new Map<string, number>();

export default {
  async fetch(request, env, ctx) {
    const { pathname, searchParams } = new URL(request.url);
    switch (pathname) {
      case "/bench/calls": {
        const counts = Object.fromEntries(calls);
        calls.clear();
        return Response.json(counts);
      }
      case "/bench/files":
        await putFiles(env.FILES, await request.json<[key: string, text: string][]>());
        return Response.json({});
      case "/bench/searched": {
        const stub = env.SESSION.get(env.SESSION.idFromName(searchParams.get("name") ?? ""));
        await (stub as unknown as Session).searched();
        return Response.json({});
      }
      default:
        return service.fetch(request, env, ctx);
    }
  },
  scheduled: service.scheduled,
} satisfies ExportedHandler<Env>;

/** The same objects, with a session's calls to them counted. */
function asked(objects: DurableObjectNamespace, kind: string): DurableObjectNamespace {
  return new Proxy(objects, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      if (name !== "get") return method.bind(target);
      return (...args: unknown[]) => countedStub(Reflect.apply(method, target, args), kind);
    },
  });
}

function countedStub(stub: object, kind: string): object {
  return new Proxy(stub, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return (...args: unknown[]) => {
        const call = `Session asks ${kind} ${String(name)}`;
        calls.set(call, (calls.get(call) ?? 0) + 1);
        return Reflect.apply(method, target, args);
      };
    },
  });
}

function counted(bucket: R2Bucket, who: string): R2Bucket {
  return new Proxy(bucket, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return (...args: unknown[]) => {
        const kind = JSON.stringify(args[0])?.includes("/memory/projects/")
          ? "memory"
          : "workspace";
        const call = `${who} ${String(name)} ${kind}`;
        calls.set(call, (calls.get(call) ?? 0) + 1);
        return Reflect.apply(method, target, args);
      };
    },
  });
}
