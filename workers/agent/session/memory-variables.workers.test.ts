// Whether a session has memory, by the variables of the deployment. That they come from there is
// `test/e2e/settings.test.ts`.

import { env, runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { newId } from "../../../src/platform/ids.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { newMeta } from "../testing/meta-fixture.ts";
import { object, stub } from "../testing/session-object-fixture.ts";
import type { Session } from "./session.ts";

const CASES: [Record<string, string>, string][] = [
  [{ DISABLE_AUTO_MEMORY: " TRUE " }, "DISABLE_AUTO_MEMORY is truthy"],
  [{ SIMPLE: "1" }, "SIMPLE is truthy"],
  [{ REMOTE_MEMORY_DIR: "" }, "REMOTE_MEMORY_DIR is not set"],
  [{ REMOTE_MEMORY_DIR: "", DISABLE_AUTO_MEMORY: "0" }, "REMOTE_MEMORY_DIR is not set"],
];

test.each(CASES)("%j", async (variables, rule) => {
  const id = newId("sesn");
  await runInDurableObject<Session, void>(object(id), (instance) => {
    Reflect.set(instance, "env", { ...env, ...variables });
  });
  const { shape } = unwrap(await stub(id).create(newMeta(id), []));
  expect(shape.auto_memory).toMatchObject({ enabled: false, rule, directory: null });
  unwrap(await stub(id).destroy());
});
