// A session that ends while its extraction is under way.

import { env } from "cloudflare:test";
import { expect, test } from "vitest";
import type { AgentEnv } from "../../env.ts";
import { createBackground } from "../session/background.ts";
import { eventually } from "../testing/eventually-fixture.ts";
import {
  endedTurn,
  inside,
  pause,
  session,
  withExtractions,
} from "../testing/extraction-life-fixture.ts";
import { model, server } from "../testing/fork-model-fixture.ts";

withExtractions();

test("a run that has stopped before its lease is given back is not waited for any more", async () => {
  const id = await session();
  await inside(id, async (life) => {
    endedTurn(life.sql, "I live in Turku.");
    let asked = false;
    server.atModel = (answer) => {
      asked = true;
      return pause(50).then(answer);
    };
    const background = createBackground({
      ...life.ports(),
      env: { ...env, MEMDIR: slowRelease(300) },
      waitUntil: () => {},
      ended: () => {},
    });
    const run = background.run(false);
    await eventually(() => asked);
    await expect(background.drain(Date.now())).resolves.toBeUndefined();
    expect((await run).status).toBe("retry");
  });
});

test("what was stopped for good begins nothing any more, whoever asks or waits", async () => {
  const id = await session();
  await inside(id, async (life) => {
    endedTurn(life.sql, "I live in Turku.");
    const background = createBackground({ ...life.ports(), waitUntil: () => {}, ended: () => {} });
    await background.stop();
    expect(await background.run(true)).toEqual({ status: "none" });
    await background.drain(Date.now() + 5_000);
    expect(model.requests).toEqual([]);
  });
});

/** The memory directories, with an answer to the first `release` that comes late. */
function slowRelease(ms: number): AgentEnv["MEMDIR"] {
  let late = ms;
  const get = (id: DurableObjectId) =>
    new Proxy(env.MEMDIR.get(id), {
      get:
        (real, name) =>
        async (...args: unknown[]) => {
          const wait = name === "release" ? late : 0;
          if (name === "release") late = 0;
          const call: unknown = Reflect.get(real, name);
          const result: unknown = typeof call === "function" ? await call(...args) : undefined;
          await pause(wait);
          return result;
        },
    });
  const idFromName = (name: string) => env.MEMDIR.idFromName(name);
  return { idFromName, get } as unknown as AgentEnv["MEMDIR"];
}
