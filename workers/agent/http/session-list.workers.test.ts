// The list of sessions, answered by the account alone.

import {
  createExecutionContext,
  env,
  evictDurableObject,
  runDurableObjectAlarm,
  runInDurableObject,
  waitOnExecutionContext,
} from "cloudflare:test";
import { Hono } from "hono";
import { expect, test } from "vitest";
import type { Edge } from "../../../src/platform/http/edge.ts";
import { newId } from "../../../src/platform/ids.ts";
import { accountStub } from "../../../src/platform/objects/account-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { MemdirError } from "../../../src/shared/errors.ts";
import { LISTED_BYTES } from "../../../src/shared/limits/http.ts";
import type { AgentEnv } from "../../env.ts";
import { appendEvent } from "../rows/events.ts";
import { listedVersion } from "../rows/listed.ts";
import { readMeta, writeMeta } from "../rows/meta.ts";
import type { Session } from "../session/session.ts";
import { listedState } from "../session/session-shape.ts";
import { sessionStub } from "../session/stubs.ts";
import { MODEL } from "../testing/context-fixture.ts";
import { eventually } from "../testing/eventually-fixture.ts";
import { newMeta } from "../testing/meta-fixture.ts";
import { withFetch } from "../testing/session-object-fixture.ts";
import { sessionRoutes } from "./routes-sessions.ts";

declare global {
  namespace Cloudflare {
    interface Env extends AgentEnv {}
  }
}

type Shape = Record<string, unknown>;

withFetch(
  ({ signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    }),
);

test("a list of 300 sessions asks no session, and shows what each would say of itself", async () => {
  const user = newUser();
  const real = await Promise.all(
    Array.from({ length: 12 }, (_, n) => make(user, { createdAt: 2000 + n, title: `No. ${n}` })),
  );
  const [archived, gone] = [real[7] ?? "", real[8] ?? ""];
  unwrap(await user.session(archived).archive());
  await user.call("DELETE", `/v1/sessions/${gone}`);
  await atRest(user, [archived]);
  // The rest are only in the account: who asked for one would find none.
  const known = (await user.account.list({ limit: 20, order: "asc" }))[0];
  await runInDurableObject(user.accountObject(), (_instance, { storage: { sql } }) => {
    for (let n = 11; n < 300; n += 1) {
      const id = newId("sesn");
      const fixed = JSON.stringify({ ...JSON.parse(known?.fixed ?? ""), id });
      sql.exec(
        "INSERT INTO sessions (id, created_at, ready, version, state) VALUES (?, ?, 1, 1, ?)",
        id,
        n,
        known?.state,
      );
      sql.exec("INSERT INTO session_shapes (session, fixed) VALUES (?, ?)", id, fixed);
    }
  });

  user.asked.length = 0;
  const shown: Shape[] = [];
  let pages = 0;
  for (let next: unknown = ""; next !== null; pages += 1) {
    const page = await user.list(`?limit=100&include_archived=true&page=${String(next)}`);
    expect(page.data).toHaveLength(100);
    shown.push(...page.data);
    next = page.next_page;
  }
  expect([pages, user.asked]).toEqual([3, []]);
  const expected = real.filter((id) => id !== gone).reverse();
  const told = expected.map(async (id) => unwrap(await user.session(id).retrieve()));
  expect(shown.slice(0, 11).map(timeless)).toEqual((await Promise.all(told)).map(timeless));
  expect(new Set(shown.map(({ id }) => id)).size).toBe(300);

  // A page is cut before what is archived is left out.
  const open = await user.list("?limit=5");
  expect(open.data.map(({ id }) => id)).toEqual(
    expected.slice(0, 5).filter((id) => id !== archived),
  );
});

test("a session is running from its message on, and idle with its end", async () => {
  const user = newUser();
  const id = await make(user, {});
  const status = async () => (await user.list("")).data.map((shape) => shape.status);
  expect(await status()).toEqual(["idle"]);
  // A turn that is over in a moment would not be told of: its model does not answer.
  await user.inside(id, (_sql, _state, instance) => {
    Reflect.set(instance, "env", { ...env, ...MODEL });
  });
  unwrap(await user.session(id).send([say("hello")], undefined));
  await eventually(async () => (await status())[0] !== "idle");
  unwrap(await user.session(id).send([{ type: "user.interrupt" }], undefined));
  await eventually(async () => (await status())[0] === "idle");
  await atRest(user, [id]);
  const [shown] = (await user.list("")).data;
  expect(timeless(shown)).toEqual(timeless(unwrap(await user.session(id).retrieve())));
});

test("a session that dies right after a change is shown right once its alarm has fired", async () => {
  const user = newUser();
  const id = await make(user, {});
  await user.inside(id, async (sql, state) => {
    // As a turn's end leaves it, before the account was told.
    writeMeta(sql, { ...readMeta(sql), updatedAt: 86_400_000, activeMs: 5_000 });
    appendEvent(sql, { type: "session.status_running", turn_id: newId("sevt") }, 2);
    await state.storage.setAlarm(Date.now() + 60_000);
  });
  await evictDurableObject(user.object(id));
  expect((await user.list("")).data[0]).toMatchObject({ usage: { active_seconds: 0 } });
  expect(await runDurableObjectAlarm(user.object(id))).toBe(true);
  const right = { updated_at: "1970-01-02T00:00:00.000Z", usage: { active_seconds: 5 } };
  await eventually(async () => {
    const [shown] = (await user.list("")).data;
    return JSON.stringify(shown).includes(right.updated_at);
  });
  expect((await user.list("")).data[0]).toMatchObject(right);
});

test("what the account could not be told is told again", async () => {
  const user = newUser();
  const id = await make(user, {});
  await user.inside(id, (_sql, _state, instance) => {
    const broken = { idFromName: () => refuse(), get: () => refuse() };
    Reflect.set(instance, "env", { ...env, ACCOUNT: broken });
  });
  unwrap(await user.session(id).archive());
  expect((await user.list("")).data).toHaveLength(1);
  await user.inside(id, async (_sql, state) => {
    expect(await state.storage.getAlarm()).not.toBeNull();
  });
  // It is known by its rows, whoever comes next.
  await evictDurableObject(user.object(id));
  expect(await runDurableObjectAlarm(user.object(id))).toBe(true);
  await eventually(async () => (await user.list("")).data.length === 0);
  expect((await user.list("?include_archived=true")).data).toMatchObject([
    { id, archived_at: expect.any(String) },
  ]);
});

test("a session at rest whose account knows it is reported no more, whoever wakes it", async () => {
  const user = newUser();
  const id = await make(user, {});
  unwrap(await user.session(id).archive());
  await atRest(user, [id]);
  await evictDurableObject(user.object(id));
  unwrap(await user.session(id).retrieve());
  // It may have to be told once more, which is noted when the account has answered.
  await user.inside(id, async (sql, state) => {
    const { version } = listedState(sql, readMeta(sql), undefined);
    await eventually(() => listedVersion(sql) === version);
    await state.storage.deleteAlarm();
  });
  await evictDurableObject(user.object(id));
  unwrap(await user.session(id).retrieve());
  await user.inside(id, async (_sql, state) => {
    expect(await state.storage.getAlarm()).toBeNull();
  });
});

test("one that is being deleted is shown no more, also where the deletion dies", async () => {
  const user = newUser();
  const id = await make(user, {});
  await user.inside(id, async (sql, state) => {
    writeMeta(sql, { ...readMeta(sql), deleting: true });
    await state.storage.setAlarm(Date.now() + 60_000);
  });
  await evictDurableObject(user.object(id));
  await runDurableObjectAlarm(user.object(id));
  expect((await user.list("?include_archived=true")).data).toEqual([]);
});

test("what the account does not know, or is too large for it, is asked of the session", async () => {
  const user = newUser();
  const old = await make(user, { createdAt: 1 });
  const large = await make(user, { createdAt: 2, system: "x".repeat(LISTED_BYTES) });
  const other = await make(user, { createdAt: 3, title: "not as we write it" });
  await runInDurableObject(user.accountObject(), (_instance, { storage }) => {
    storage.sql.exec("UPDATE sessions SET state = NULL WHERE id = ?", old);
    storage.sql.exec("UPDATE session_shapes SET fixed = '{}' WHERE session = ?", other);
  });
  user.asked.length = 0;
  const { data } = await user.list("");
  expect(data.map(({ id }) => id)).toEqual([other, large, old]);
  expect(data[0]?.title).toBe("not as we write it");
  expect(data[1]?.agent).toMatchObject({ system: "x".repeat(LISTED_BYTES) });
  expect(user.asked).toHaveLength(3);
});

test("a report that is late, doubled or of a session that was removed changes nothing", async () => {
  const user = newUser();
  const id = await make(user, {});
  const { account } = user;
  const [before] = await account.list({ limit: 9, order: "asc" });
  for (const version of [9, 7, 9, 8]) {
    await account.reportUsage(id, [], { version: version + 100, state: `${version}` });
  }
  expect(await account.list({ limit: 9, order: "asc" })).toEqual([{ ...before, state: "9" }]);
  await account.remove(id);
  await account.reportUsage(id, [], { version: 999, state: "late" });
  await account.ready(id, { version: 999, state: "late", fixed: "{}" });
  expect(await account.list({ limit: 9, order: "asc" })).toEqual([]);
});

test("nobody is shown another's sessions", async () => {
  const [one, two] = [newUser(), newUser()];
  const id = await make(one, {});
  expect((await two.list("?include_archived=true")).data).toEqual([]);
  expect((await one.list("")).data.map((shape) => shape.id)).toEqual([id]);
});

/** A user of its own, with what the edge asks of sessions in their name. */
function newUser() {
  const owner = { tenant: "acme", user: newId("sesn") };
  const asked: string[] = [];
  const watched: DurableObjectNamespace = new Proxy(env.SESSION, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]): unknown => {
        if (name === "get") asked.push(String(args[0]));
        return Reflect.apply(value, target, args);
      };
    },
  });
  const app = new Hono<Edge<AgentEnv>>();
  app.use(async (c, next) => {
    c.set("principal", { ...owner, role: "member", repos: [] });
    await next();
  });
  app.route("/", sessionRoutes());
  async function call(
    method: string,
    path: string,
  ): Promise<{ data: Shape[]; next_page: unknown }> {
    const context = createExecutionContext();
    const own = { ...env, SESSION: watched };
    const response = await app.request(path, { method }, own, context);
    await waitOnExecutionContext(context);
    expect(response.status).toBe(200);
    return await response.json();
  }
  const object = (id: string) => {
    const name = JSON.stringify([owner.tenant, owner.user, id]);
    return env.SESSION.get(env.SESSION.idFromName(name)) as DurableObjectStub<Session>;
  };
  return {
    owner,
    asked,
    call,
    object,
    list: (query: string) => call("GET", `/v1/sessions${query}`),
    account: accountStub(env, owner),
    accountObject: () =>
      env.ACCOUNT.get(env.ACCOUNT.idFromName(JSON.stringify([owner.tenant, owner.user]))),
    session: (id: string) => sessionStub(env, owner, id),
    inside: (
      id: string,
      work: (sql: SqlStorage, state: DurableObjectState, instance: Session) => void | Promise<void>,
    ) =>
      runInDurableObject<Session, void>(object(id), (instance, state) =>
        work(state.storage.sql, state, instance),
      ),
  };
}

type User = ReturnType<typeof newUser>;

/** A session as the edge makes one. */
async function make(user: User, fields: object): Promise<string> {
  const { id } = unwrap(await user.account.reserve(undefined, 0));
  const meta = { ...newMeta(id), ...user.owner, metadata: { bare: "true" }, ...fields };
  await runInDurableObject(user.accountObject(), (_instance, { storage }) => {
    storage.sql.exec("UPDATE sessions SET created_at = ? WHERE id = ?", meta.createdAt, id);
  });
  const created = unwrap(await user.session(id).create(meta, []));
  await user.account.ready(id, created.listed);
  return id;
}

/** Until the account knows all of them as they are. */
async function atRest(user: User, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await eventually(async () => {
      const rows = await user.account.list({ limit: 1000, order: "asc" });
      const { state } = rows.find((row) => row.id === id) ?? {};
      const { updated_at, status } = unwrap(await user.session(id).retrieve());
      const known = JSON.parse(state ?? "{}");
      const same = new Date(known.updatedAt).toISOString() === updated_at;
      return same && status === "idle" && known.due === false;
    });
  }
}

function timeless(shape: Shape | undefined): Shape {
  return { ...shape, stats: null };
}

function say(text: string) {
  return { type: "user.message" as const, content: [{ type: "text" as const, text }] };
}

function refuse(): never {
  throw new MemdirError("unavailable", "not now");
}
