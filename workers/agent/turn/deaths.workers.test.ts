// A process that dies at one step of a turn again and again.

import { env, runInDurableObject } from "cloudflare:test";
import { afterEach, expect, test } from "vitest";
import { createFakeModel } from "../../../dev/fake-model/fake-model.ts";
import { newId } from "../../../src/platform/ids.ts";
import { STEP_DEATHS } from "../../../src/shared/limits/turn.ts";
import type { ClientEvent } from "../contract/client-events.ts";
import { MODEL } from "../testing/context-fixture.ts";
import { eventually } from "../testing/eventually-fixture.ts";
import { newMeta } from "../testing/meta-fixture.ts";
import { eventsOf, object, stub, withFetch } from "../testing/session-object-fixture.ts";

const model = createFakeModel({ reply: () => ({ text: "Here I am." }) });
/** The object dies with each request of the main thread while this is set. */
let dying = true;
/** A request of the main thread is under way, and its object is to die with it. */
let doomed = false;
let asked = 0;
const made: string[] = [];

withFetch(async (request) => {
  if (request.headers.get("x-memdir-purpose") !== "main") return model.handle(request);
  asked += 1;
  if (!dying) return model.handle(request);
  doomed = true;
  return new Promise<Response>(() => {});
});

afterEach(async () => {
  for (const id of made.splice(0)) await stub(id).destroy();
});

test("GROW-02: a turn that dies three times at one step ends with an error, and the session answers the next", {
  timeout: 30_000,
}, async () => {
  const id = newId("sesn");
  made.push(id);
  const meta = { ...newMeta(id), environmentId: id, projectRoot: `/workspace/${id}` };
  expect(await stub(id).create({ ...meta, metadata: { bare: "true" } }, [])).toMatchObject({
    ok: true,
  });
  await withModel(id);
  await stub(id)
    .send([say("Kill yourself.")], undefined)
    .catch(() => {});
  // Each request wakes it, as its alarm would.
  await eventually(async () => {
    await withModel(id).catch(() => {});
    if (doomed) {
      doomed = false;
      await runInDurableObject(object(id), (_, state) => state.abort("killed")).catch(() => {});
      return false;
    }
    const reply = await stub(id)
      .retrieve()
      .catch(() => undefined);
    return reply?.ok === true && reply.value.status === "idle";
  });
  expect(asked).toBe(STEP_DEATHS);
  const events = await eventsOf(id);
  const error = events.find(({ type }) => type === "session.error");
  expect(JSON.stringify(error)).toMatch(
    /given up: the service broke down 3 times at the same step/,
  );
  expect(events.at(-1)).toMatchObject({ type: "session.status_idle" });

  dying = false;
  await withModel(id);
  expect((await stub(id).send([say("And now?")], undefined)).ok).toBe(true);
  await eventually(async () =>
    (await eventsOf(id)).some((event) => JSON.stringify(event).includes("Here I am.")),
  );
  expect(asked).toBe(STEP_DEATHS + 1);
});

/** Lets the instance that there is now reach the model. */
function withModel(id: string): Promise<void> {
  return runInDurableObject(object(id), (instance) => {
    Reflect.set(instance, "env", { ...env, ...MODEL, EXTRACTION_EVERY_TURNS: "0" });
  });
}

function say(text: string): ClientEvent {
  return { type: "user.message", content: [{ type: "text", text }] };
}
