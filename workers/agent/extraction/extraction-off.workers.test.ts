// ENABLE-04: whether the memory is on is asked again when background work runs, and before it writes.

import { env } from "cloudflare:test";
import { expect, test } from "vitest";
import { createFaultyBucket } from "../../../test/contract/faulty-bucket.ts";
import { readExtraction } from "../rows/extraction-state.ts";
import { listRuns } from "../rows/runs.ts";
import {
  endedTurn,
  inside,
  type Life,
  session,
  withExtractions,
  withModel,
} from "../testing/extraction-life-fixture.ts";
import { outcomesOf, ownOf, seedIndex, versionsOf } from "../testing/extraction-saved-fixture.ts";
import { model, server } from "../testing/fork-model-fixture.ts";
import { stub } from "../testing/session-object-fixture.ts";
import { extract } from "./extract.ts";

withExtractions();

const SAID = "I live in Turku, drink tea and own a dog.";

/** The project's settings, as its user or its repository has them. */
function settings(id: string, text: string, file = "settings.json"): Promise<unknown> {
  return env.FILES.put(`t/acme/u/ann/w/${id}/.claude/${file}`, text);
}

function expectDropped(life: Life): Promise<void> {
  expect(outcomesOf(life.sql)).toMatchObject([{ type: "memory.skipped", reason: "disabled" }]);
  expect(readExtraction(life.sql)).toMatchObject({ cursor: 1, lease: null, resendAt: null });
  return life.expectFree();
}

test.each([
  ["off", '{"autoMemoryEnabled":false}'],
  ["off, with a stale key that says on", '{"autoMemoryEnabled":false,"memoryPolicy":"always"}'],
  ["what nobody can read", '{"autoMemoryEnabled":"False"}'],
  ["cut off", '{"autoMemoryEnabled":fal'],
])(
  "what is due when the settings say %s is dropped without a call of the model",
  async (_, text) => {
    const id = await session();
    await inside(id, (life) => endedTurn(life.sql, SAID));
    await settings(id, text);
    await withModel(id);
    const store = await inside(id, (life) => life.store);
    expect(await stub(id).extract({ store, upTo: 1 })).toEqual({ status: "done", next: null });
    expect(model.requests).toEqual([]);
    // The message comes again.
    expect(await stub(id).extract({ store, upTo: 1 })).toEqual({ status: "none" });
    await inside(id, async (life) => {
      await expectDropped(life);
      expect(listRuns(life.sql, "extraction", { limit: 10 })).toEqual([]);
      expect(ownOf(await versionsOf(life))).toEqual([]);
    });
  },
);

test("a project that says on is not asked where the user's own settings of it say off", async () => {
  const id = await session();
  await settings(id, '{"autoMemoryEnabled":true}');
  await settings(id, '{"autoMemoryEnabled":false}', "settings.local.json");
  await inside(id, async (life) => {
    endedTurn(life.sql, SAID);
    expect((await life.run()).reply.status).toBe("done");
    expect(model.requests).toEqual([]);
    await expectDropped(life);
  });
});

test.each([
  [1, 0],
  [2, 2],
])(
  "a fork that runs when it is turned off, at its answer %i, writes nothing more",
  async (at, had) => {
    const id = await session();
    await inside(id, async (life) => {
      await seedIndex(life);
      endedTurn(life.sql, SAID);
      let calls = 0;
      server.atModel = async (answer) => {
        calls += 1;
        if (calls === at) await settings(id, '{"autoMemoryEnabled":false}');
        return answer();
      };
      const { reply } = await life.run();
      expect(reply).toEqual({ status: "done", next: null });
      expect(calls).toBe(at);
      const written = ownOf(await versionsOf(life)).filter(({ path }) => path !== "MEMORY.md");
      expect(written).toHaveLength(had);
      const told = outcomesOf(life.sql);
      expect(told.at(-1)).toMatchObject({ type: "memory.skipped", reason: "disabled" });
      expect(told.map(({ type }) => type)).toEqual(
        had > 0 ? ["memory.saved", "memory.skipped"] : ["memory.skipped"],
      );
      expect(readExtraction(life.sql)).toMatchObject({ cursor: 1, lease: null });
      await life.run();
      expect(calls).toBe(at);
      await life.expectFree();
    });
  },
);

test("a storage that cannot say leaves it due: neither a guess nor a loss", async () => {
  const id = await session();
  await inside(id, async (life) => {
    endedTurn(life.sql, SAID);
    const error = new Error("get: Unauthorized (10002)");
    const fail = Array.from({ length: 99 }, (_, n) => ({ operation: "get", nth: n + 1, error }));
    const failing = createFaultyBucket(env.FILES, { fail } as Parameters<
      typeof createFaultyBucket
    >[1]);
    const ports = { ...life.ports(), env: { ...env, FILES: failing } };
    const reply = await extract(ports, false, new AbortController().signal);
    expect(reply.status).toBe("retry");
    expect(model.requests).toEqual([]);
    expect(readExtraction(life.sql).cursor).toBe(0);
    expect((await life.run()).reply.status).toBe("done");
    expect(outcomesOf(life.sql)).toMatchObject([{ type: "memory.saved" }]);
  });
});
