// An extraction that meets what it does not expect: a model that never ends well, rows that cannot be
// read, a store or a session that is gone.

import { env, runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { memdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import type { ExtractReply } from "../../../src/platform/objects/session-rpc.ts";
import { userOwner } from "../../../src/platform/objects/store-owner.ts";
import { EXTRACTION_ATTEMPTS, RESEND_MOST_MS } from "../../../src/shared/limits/extraction.ts";
import { STEP_DEATHS } from "../../../src/shared/limits/turn.ts";
import { readEvents } from "../rows/events.ts";
import { readExtraction } from "../rows/extraction-state.ts";
import { listRuns } from "../rows/runs.ts";
import { eventually } from "../testing/eventually-fixture.ts";
import {
  endedTurn,
  inside,
  made,
  pause,
  session,
  withExtractions,
  withModel,
} from "../testing/extraction-life-fixture.ts";
import {
  outcomesOf,
  seedIndex,
  verifySaved,
  versionsOf,
} from "../testing/extraction-saved-fixture.ts";
import { savesThree, server } from "../testing/fork-model-fixture.ts";
import { object, owner, stub } from "../testing/session-object-fixture.ts";

withExtractions();

test("a batch that never ends well is dropped, and only it: later turns are extracted", async () => {
  const id = await session();
  server.answers = [{ text: "hm", fault: { type: "unknown_stop" } }];
  await inside(id, async (life) => {
    endedTurn(life.sql, "Something that no fork can look at.");
    const replies: ExtractReply["status"][] = [];
    for (let n = 1; n <= EXTRACTION_ATTEMPTS; n += 1) {
      replies.push((await life.run()).reply.status);
      // The conversation goes on meanwhile.
      if (n < EXTRACTION_ATTEMPTS) endedTurn(life.sql, `I live in Turku${n}.`);
    }
    expect(replies).toEqual([...Array(EXTRACTION_ATTEMPTS - 1).fill("retry"), "done"]);
    expect(readExtraction(life.sql)).toMatchObject({ cursor: 1, failures: 0, lease: null });
    expect(outcomesOf(life.sql)).toMatchObject([{ type: "memory.skipped", reason: "failed" }]);
    server.answers = savesThree();
    expect((await life.run()).reply.status).toBe("done");
    expect(readExtraction(life.sql)).toMatchObject({ cursor: EXTRACTION_ATTEMPTS, resendAt: null });
    expect(outcomesOf(life.sql).map(({ type }) => type)).toEqual([
      "memory.skipped",
      "memory.saved",
    ]);
    await life.expectFree();
  });
});

test("TRUTH-07: a run that saves again what is there is refused, and told the file to edit", async () => {
  const id = await session();
  const content = "---\nname: new\ndescription: Something old.\ntype: user\n---\n\nNew words.\n";
  server.answers = [
    { text: "hm", tools: [{ name: "Write", input: { file_path: "@/again.md", content } }] },
    { text: "That was all." },
  ];
  await inside(id, async (life) => {
    await seedIndex(life);
    endedTurn(life.sql, "Something old.");
    expect((await life.run()).reply.status).toBe("done");
    const [run] = listRuns(life.sql, "extraction", { limit: 1 });
    expect(run?.log.calls).toMatchObject([
      { tool: "Write", error: expect.stringMatching(/old\.md says this already.*Edit that file/) },
    ]);
    expect((await versionsOf(life)).map(({ path }) => path)).not.toContain("again.md");
  });
});

test("an outage of the model drops nothing, however long, and is asked about less and less often", {
  timeout: 20_000,
}, async () => {
  const id = await session();
  server.answers = [{ fault: { type: "status", status: 529 } }];
  await inside(id, async (life) => {
    endedTurn(life.sql, "I live in Turku, drink tea and own a dog.");
    await seedIndex(life);
    const pauses: number[] = [];
    for (let n = 0; n < EXTRACTION_ATTEMPTS + 2; n += 1) {
      const { reply } = await life.run();
      expect(reply.status).toBe("retry");
      const ms = reply.status === "retry" ? reply.afterMs : 0;
      pauses.push(ms);
      life.later(3 * ms);
      await life.expectFree();
    }
    expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
    expect(pauses.at(-1)).toBe(RESEND_MOST_MS);
    // Told once, when it is more than a moment's.
    const errors = readEvents(life.sql, { limit: 100, types: ["session.error"] });
    expect(errors).toHaveLength(1);
    expect(errors[0]?.json).toMatch(/"retrying"/);
    server.answers = savesThree();
    expect((await life.run()).reply.status).toBe("done");
    expect(readExtraction(life.sql).outages).toBe(0);
    await verifySaved(life, "after an outage", false);
  });
});

test("GROW-02: a run that dies at one step again and again is given up, and later turns are extracted", async () => {
  const id = await session();
  await inside(id, async (life) => {
    endedTurn(life.sql, "Something that no process survives.");
    for (let n = 0; n < STEP_DEATHS; n += 1) {
      const { steps } = await life.run({ dieAt: "model" });
      expect(steps.at(-1)).toBe("model");
    }
    expect((await life.run()).reply.status).toBe("done");
    expect(readExtraction(life.sql)).toMatchObject({ cursor: 1, lease: null });
    expect(outcomesOf(life.sql)).toMatchObject([{ type: "memory.skipped", reason: "failed" }]);
    server.answers = savesThree();
    endedTurn(life.sql, "I live in Turku, drink tea and own a dog.");
    expect((await life.run()).reply.status).toBe("done");
    expect(outcomesOf(life.sql).map(({ type }) => type)).toEqual([
      "memory.skipped",
      "memory.saved",
    ]);
    await life.expectFree();
  });
});

test("rows that cannot be read cost their own batch, after some tries, and nothing else", async () => {
  const id = await session();
  await inside(id, async (life) => {
    endedTurn(life.sql, "I live in Turku, drink tea and own a dog.");
    await seedIndex(life);
    await life.run({ dieAt: 14 });
    life.sql.exec("UPDATE calls SET body = '{not json' ");
    for (let n = 1; n < EXTRACTION_ATTEMPTS; n += 1) {
      expect((await life.run()).reply.status).toBe("retry");
      await life.expectFree();
    }
    expect((await life.run()).reply.status).toBe("done");
    expect(outcomesOf(life.sql)).toMatchObject([{ type: "memory.skipped", reason: "failed" }]);
    endedTurn(life.sql, "I drink tea.");
    expect((await life.run()).reply.status).toBe("done");
    expect(readExtraction(life.sql)).toMatchObject({ cursor: 2, failures: 0 });
  });
});

test("a store that was deleted in between is nobody's any more: the batch is settled and its run ends", async () => {
  const id = await session();
  await inside(id, async (life) => {
    endedTurn(life.sql, "I live in Turku, drink tea and own a dog.");
    const { steps } = await life.run({ dieAt: 18 });
    expect(steps.at(-1)).toBeDefined();
    const meta = unwrap(await life.memory().meta());
    unwrap(await life.memory().destroy());
    expect((await life.run()).reply).toEqual({ status: "done", next: null });
    expect(outcomesOf(life.sql)).toMatchObject([{ type: "memory.skipped", reason: "disabled" }]);
    expect((await env.FILES.list({ prefix: meta.prefix })).objects).toEqual([]);
    expect(readExtraction(life.sql)).toMatchObject({ cursor: 1, lease: null, resendAt: null });

    // Another session makes the store anew; the old run does not go on in it.
    unwrap(await life.memory().open(meta));
    server.answers = [{ text: "Nothing new." }];
    endedTurn(life.sql, "What is two and two?");
    expect((await life.run()).reply.status).toBe("done");
    const runs = listRuns(life.sql, "extraction", { limit: 10 });
    expect(runs.map(({ firstTurn, lastTurn }) => [firstTurn, lastTurn])).toEqual([
      [2, 2],
      [1, 1],
    ]);
    expect(outcomesOf(life.sql)).toHaveLength(2);
    expect((await env.FILES.list({ prefix: meta.prefix })).objects).toEqual([]);
  });
});

test.each(["destroy", "archive"] as const)(
  "a store that goes away while the model speaks took nothing, and that is said: %s",
  async (how) => {
    const id = await session();
    await inside(id, async (life) => {
      endedTurn(life.sql, "I live in Turku, drink tea and own a dog.");
      server.atModel = async (answer) => {
        server.atModel = undefined;
        unwrap(await life.memory()[how]());
        return answer();
      };
      expect((await life.run()).reply.status).toBe("done");
      expect(outcomesOf(life.sql)).toMatchObject([{ type: "memory.skipped", reason: "disabled" }]);
      expect(readExtraction(life.sql)).toMatchObject({ cursor: 1, lease: null, resendAt: null });
    });
  },
);

test("a store that was archived in between takes no write, and the turn is settled once", async () => {
  const id = await session();
  await inside(id, async (life) => {
    endedTurn(life.sql, "I live in Turku, drink tea and own a dog.");
    await life.run({ dieAt: 8 });
    unwrap(await life.memory().archive());
    expect((await life.run()).reply.status).toBe("done");
    expect(await versionsOf(life)).toEqual([]);
    expect(outcomesOf(life.sql)).toMatchObject([{ type: "memory.skipped", reason: "disabled" }]);
    await life.expectFree();
  });
});

test("a session that is deleted in mid-run leaves nothing behind and writes nothing afterwards", {
  timeout: 20_000,
}, async () => {
  const id = await session();
  const at = await inside(id, (life) => {
    endedTurn(life.sql, "I live in Turku, drink tea and own a dog.");
    return { store: life.store };
  });
  await withModel(id);
  const memory = () => memdirStub(env, userOwner(owner), at.store);
  let asked = 0;
  // The first answer comes, the second never does.
  server.atModel = async (answer) => {
    asked += 1;
    if (asked > 1) await pause(3_000);
    return answer();
  };
  const run = stub(id)
    .extract({ store: at.store, upTo: 1 })
    .catch(() => undefined);
  await eventually(() => asked > 1);
  expect(await stub(id).destroy()).toMatchObject({ ok: true });
  made.splice(made.indexOf(id), 1);
  const before = unwrap(await memory().versions({ limit: 100, withContent: false })).length;
  expect(before).toBeGreaterThan(0);
  const free = unwrap(await memory().acquire("extraction", "another", 1));
  expect(free.status).toBe("granted");
  await run;
  await pause(1_200);
  expect(unwrap(await memory().versions({ limit: 100, withContent: false }))).toHaveLength(before);
  expect(await stub(id).extract({ store: at.store, upTo: 1 })).toEqual({ status: "none" });
  await stub(id).dropExtraction();
  await runInDurableObject(object(id), async (_instance, { storage }) => {
    expect(
      storage.sql.exec("SELECT name FROM sqlite_master WHERE name = 'meta'").toArray(),
    ).toEqual([]);
    expect(await storage.getAlarm()).toBeNull();
  });
});
