// An extraction that dies after any of its steps, or whose lease has passed on.

import { env } from "cloudflare:test";
import { expect, test } from "vitest";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { readExtraction } from "../rows/extraction-state.ts";
import {
  endedTurn,
  inside,
  pause,
  session,
  withExtractions,
} from "../testing/extraction-life-fixture.ts";
import { ownOf, seedIndex, verifySaved, versionsOf } from "../testing/extraction-saved-fixture.ts";
import { model, server } from "../testing/fork-model-fixture.ts";

declare global {
  namespace Cloudflare {
    interface Env {
      CRASH_STRIDE: string;
    }
  }
}

withExtractions();

/** Every so many-th step is one to die after; the long run takes each. */
const STRIDE = Number(env.CRASH_STRIDE);

test("killed after any of its steps, an extraction goes on and does nothing twice", {
  timeout: 120_000,
}, async () => {
  // The first one lives, and shows what its steps are.
  let steps: string[] = [];
  for (let dieAt = 0; dieAt < Math.max(steps.length, 1); dieAt += dieAt ? STRIDE : 1) {
    const id = await session();
    await inside(id, async (life) => {
      endedTurn(life.sql, "I live in Turku, drink tea and own a dog.");
      await seedIndex(life);
      const first = await life.run(dieAt === 0 ? {} : { dieAt });
      if (dieAt === 0) steps = first.steps;
      expect(first.died).toBe(dieAt > 0);
      const where = `killed after step ${dieAt}, ${first.steps[dieAt - 1]}`;
      const reply = first.died ? (await life.run()).reply : first.reply;
      expect(reply, where).toEqual({ status: "done", next: null });
      await verifySaved(life, where);
    });
    model.reset();
  }
  expect(steps.length).toBeGreaterThan(30);
});

test("killed again and again, it still comes to its end", async () => {
  const id = await session();
  await inside(id, async (life) => {
    endedTurn(life.sql, "I live in Turku, drink tea and own a dog.");
    await seedIndex(life);
    let lives = 0;
    for (let died = true; died; lives += 1) died = (await life.run({ dieAt: 9 })).died;
    expect(lives).toBeGreaterThan(3);
    await verifySaved(life, `${lives} lives`);
  });
});

test("a run whose lease has passed on writes nothing more, and goes on under a new one", async () => {
  const id = await session();
  await inside(id, async (life) => {
    endedTurn(life.sql, "I live in Turku, drink tea and own a dog.");
    await seedIndex(life);
    let other = 0;
    server.atModel = async (answer) => {
      const response = await answer();
      // As where its signs of life did not come through in time.
      const own = readExtraction(life.sql).lease ?? 0;
      unwrap(await life.memory().release("extraction", own));
      const reply = unwrap(await life.memory().acquire("extraction", "somebody", 60_000));
      other = reply.status === "granted" ? reply.token : 0;
      return response;
    };
    const { reply } = await life.run({ settings: { LEASE_MS: 30 } });
    server.atModel = undefined;
    expect(other).toBeGreaterThan(0);
    expect(reply).toMatchObject({ status: "retry" });
    expect(ownOf(await versionsOf(life))).toEqual([]);
    expect(readExtraction(life.sql).cursor).toBe(0);
    expect((await life.run()).reply).toEqual({ status: "waiting" });
    // The stale run's own return of its lease has not touched the new one; its end names who waits.
    expect(unwrap(await life.memory().release("extraction", other))).toBe(id);
    expect((await life.run()).reply).toEqual({ status: "done", next: null });
    await verifySaved(life, "after a lost lease");
  });
});

test("a run keeps its lease while the model says nothing for longer than that", async () => {
  const id = await session();
  await inside(id, async (life) => {
    endedTurn(life.sql, "I live in Turku, drink tea and own a dog.");
    await seedIndex(life);
    server.atModel = async (answer) => {
      await pause(1500);
      return answer();
    };
    expect((await life.run({ settings: { LEASE_MS: 600 } })).reply.status).toBe("done");
    server.atModel = undefined;
    await verifySaved(life, "under a short lease");
  });
});
