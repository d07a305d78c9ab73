// A session whose database is as large as it may be.

import { env, runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { createFakeModel } from "../../../dev/fake-model/fake-model.ts";
import { newId } from "../../../src/platform/ids.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { variablesOf } from "../../../src/platform/variables.ts";
import { SESSION_MOST_BYTES } from "../../../src/shared/limits/turn.ts";
import type { AgentEnv } from "../../env.ts";
import { spaceHook } from "../setup/space.ts";
import { MODEL } from "../testing/context-fixture.ts";
import { newMeta } from "../testing/meta-fixture.ts";
import { object, pageOf, stub, withFetch } from "../testing/session-object-fixture.ts";
import type { Session } from "./session.ts";

declare global {
  namespace Cloudflare {
    interface Env extends AgentEnv {}
  }
}

const model = createFakeModel();

withFetch((request) => model.handle(request));

test("GROW-06: a full session refuses a message and says what to do; all else of it, and others, work", async () => {
  const [full, other] = [newId("sesn"), newId("sesn")];
  const message = {
    type: "user.message" as const,
    content: [{ type: "text" as const, text: "hello" }],
  };
  const request = { key: "k", hash: "h" };
  for (const id of [full, other]) {
    unwrap(await stub(id).create(newMeta(id), []));
    await runInDurableObject<Session, void>(object(id), (instance) => {
      Reflect.set(instance, "env", { ...env, ...MODEL });
    });
  }
  const [sent] = unwrap(await stub(full).send([message], request));
  const size = await runInDurableObject<Session, number>(object(full), (instance, { storage }) => {
    Reflect.set(instance, "env", { ...env, ...MODEL, SESSION_MOST_BYTES: "4096" });
    return storage.sql.databaseSize;
  });
  const refused = await stub(full).send([{ type: "user.interrupt" }, message], undefined);
  expect(refused).toMatchObject({ ok: false, code: "too_large" });
  expect(refused).toMatchObject({
    message: expect.stringMatching(/takes \d{5,} bytes.*may have 4096.*Start a new session/),
  });
  expect(size).toBeGreaterThan(4096);
  const said = { limit: 100, types: ["user.message", "user.interrupt"] };
  const page = await pageOf(unwrap(await stub(full).events(said)));
  expect(page.data).toEqual([JSON.parse(sent ?? "")]);
  // What was acknowledged has its answer again, and a turn can be ended.
  expect(unwrap(await stub(full).send([message], request))).toEqual([sent]);
  unwrap(await stub(full).send([{ type: "user.interrupt" }], undefined));
  expect(unwrap(await stub(full).retrieve())).toMatchObject({ id: full });
  unwrap(await stub(other).send([message], undefined));
  expect(unwrap(await stub(full).archive())).toMatchObject({ archived_at: expect.any(String) });
  for (const id of [full, other]) unwrap(await stub(id).destroy());
});

test("a turn that fills its session is ended before its next model call, not by the database", async () => {
  const settings = variablesOf(env);
  const at = (databaseSize: number) =>
    spaceHook({ sql: { databaseSize } as SqlStorage, settings }).prepare?.(false);
  expect(await at(SESSION_MOST_BYTES + 1)).toEqual({ status: "ready" });
  expect(await at(9_500_000_000)).toMatchObject({
    status: "refused",
    failure: { kind: "too_large", message: expect.stringContaining("9500000000 bytes") },
  });
});
