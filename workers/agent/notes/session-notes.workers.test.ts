// What keeps the notes: when it looks, one update at a time, and that each session has its own.

import { env } from "cloudflare:test";
import { expect, test } from "vitest";
import type { ScriptStep } from "../../../dev/fake-model/script.ts";
import { forgetState } from "../../../src/platform/state.ts";
import { readEntries } from "../../../src/platform/threads/entries.ts";
import { NOTES_TEMPLATE } from "../../../src/shared/session-memory/template.ts";
import { countAnswer, notesState, readNotes, rebaseNotes } from "../rows/notes.ts";
import { createSchema } from "../session/schema.ts";
import { eventually } from "../testing/eventually-fixture.ts";
import {
  archive,
  edit,
  inside,
  model,
  session,
  withModel,
  withNotes,
} from "../testing/notes-life-fixture.ts";
import { stub } from "../testing/session-object-fixture.ts";
import { notesPage, putNotes } from "./notes-page.ts";

withNotes();

const MINE = NOTES_TEMPLATE.replace("# Task\n", "# Task\nMine.\n");

test("one update at a time: what is due meanwhile is looked at again after the next answer", async () => {
  const id = await session();
  await inside(id, async (life) => {
    model.enqueue({ text: "Nothing.", delayMs: 100, match: { purpose: "session-notes" } });
    const notes = life.notes();
    notes.look(life.grow(10_000));
    const first = notes.inFlight();
    await eventually(() => model.requests.length > 0);
    notes.look(life.grow(90_000));
    expect(notes.inFlight()).toBe(first);
    await first;
    expect(notes.inFlight()).toBeUndefined();
    expect(life.runs()).toHaveLength(1);
    notes.look(life.grow(90_001));
    await notes.inFlight();
    expect(life.runs()).toHaveLength(2);
  });
});

test("an answer that asked for tools is looked at with their results, and calls are counted from there", async () => {
  const id = await session();
  await inside(id, async (life) => {
    await life.update(10_000);
    const notes = life.notes();
    const turn = life.grow(15_000, 2);
    notes.look(turn);
    expect(notes.inFlight()).toBeUndefined();
    life.grow(15_100, 1);
    expect(notes.inFlight()).toBeUndefined();
    notes.look(turn);
    await notes.inFlight();
    expect(life.runs()).toHaveLength(2);
    expect(notesState(life.sql)).toMatchObject({ baseline: 15_100, toolCalls: 0 });
  });
});

test("calls that were made while an update ran count for the next one", async () => {
  const id = await session();
  await inside(id, async (life) => {
    const notes = life.notes();
    model.enqueue({ text: "Nothing.", delayMs: 100, match: { purpose: "session-notes" } });
    notes.look(life.grow(10_000, 5));
    await eventually(() => model.requests.length > 0);
    countAnswer(life.sql, { input: 11_000, cacheRead: 0, cacheCreation: 0, output: 0 }, 2);
    await notes.inFlight();
    expect(notesState(life.sql)).toMatchObject({ baseline: 10_000, toolCalls: 2, tokens: 11_000 });
  });
});

test("an answer without figures does not make the conversation shorter", async () => {
  const id = await session();
  await inside(id, ({ sql, grow }) => {
    grow(10_000);
    countAnswer(sql, { input: 0, cacheRead: 0, cacheCreation: 0, output: 0 }, 1);
    expect(notesState(sql)).toMatchObject({ tokens: 10_000, toolCalls: 1, asked: true });
  });
});

test("a compaction before the first update leaves the first threshold", async () => {
  const id = await session();
  await inside(id, ({ sql, grow }) => {
    rebaseNotes(sql, 3_000);
    expect(notesState(sql)).toMatchObject({ baseline: null, tokens: 3_000 });
    grow(9_000, 4);
    rebaseNotes(sql, 2_000);
    expect(notesState(sql)).toMatchObject({ baseline: null, toolCalls: 0 });
  });
});

test("three updates that fail one after the other are the last of their turn", async () => {
  const id = await session();
  await inside(id, async (life) => {
    const notes = life.notes();
    const turn = life.grow(10_000);
    const answer = async (of: typeof turn, step: ScriptStep) => {
      model.reset();
      model.enqueue({ ...step, match: { purpose: "session-notes" } });
      notes.look(of);
      await notes.inFlight();
      return model.requests.length;
    };
    const refusal = { fault: { type: "refusal" as const } };
    expect(await answer(turn, refusal)).toBe(1);
    expect(await answer(turn, refusal)).toBe(1);
    expect(await answer(turn, { text: "Nothing." })).toBe(1);
    expect(notesState(life.sql).baseline).toBe(10_000);
    const next = life.grow(15_000);
    for (let n = 0; n < 3; n += 1) expect(await answer(next, refusal)).toBe(1);
    expect(await answer(next, refusal)).toBe(0);
    // Nor does an object that was started again forget it.
    life.notes().look(next);
    expect(life.runs()).toHaveLength(6);
    expect(await answer(life.grow(15_010), { text: "Nothing." })).toBe(1);
    expect(notesState(life.sql).baseline).toBe(15_010);
  });
});

test("over the budget nothing is asked of a model, and the turn is told once", async () => {
  const id = await session();
  await inside(id, async (life) => {
    const notes = life.notes({ overBudget: async () => true });
    const turn = life.grow(10_000);
    for (let n = 0; n < 3; n += 1) {
      notes.look(turn);
      await notes.inFlight();
    }
    notes.look(life.grow(11_000));
    await notes.inFlight();
    expect(life.events()).toMatchObject([
      { type: "memory.skipped", by: "session-notes", reason: "budget", turn_id: turn.eventId },
      { type: "memory.skipped", by: "session-notes", reason: "budget" },
    ]);
    expect(model.requests).toHaveLength(0);
    expect(life.runs()).toEqual([]);
    expect(notesState(life.sql).baseline).toBeNull();
  });
});

test("a bare session has no notes", async () => {
  const id = await session(undefined, { bare: "true" });
  await inside(id, async (life) => {
    await life.update(90_000);
    expect(model.requests).toHaveLength(0);
  });
});

test("an object that died in the middle of an update: the run is ended, the notes are as they were", async () => {
  const id = await session();
  await inside(id, async (life) => {
    putNotes(life.sql, MINE, undefined, 1);
    const before = life.kept();
    let alive = true;
    const dies = life.notes({
      commit(write) {
        if (!alive) throw new Error("It is dead");
        return write();
      },
    });
    model.enqueue({
      tools: [edit("# Title\n", "# Title\nLost\n")],
      match: { purpose: "session-notes" },
    });
    model.enqueue({ text: "Done.", delayMs: 50, match: { purpose: "session-notes" } });
    dies.look(life.grow(10_000));
    await eventually(() => model.requests.length > 1);
    alive = false;
    await dies.inFlight();
    expect(life.runs()).toMatchObject([{ endedAt: undefined }]);
    expect(life.kept()).toEqual(before);
    life.notes();
    expect(life.runs()).toMatchObject([{ outcome: "interrupted" }]);
    expect(life.runs().flatMap(({ thread }) => readEntries(thread))).toEqual([]);
    expect(life.kept()).toEqual(before);
    await life.update(10_010);
    expect(notesState(life.sql).baseline).toBe(10_010);
  });
});

test("a storage that fails while notes are looked at costs the turn nothing", async () => {
  const id = await session();
  await inside(id, async (life) => {
    const turn = life.grow(10_000);
    const notes = life.notes();
    life.sql.exec("ALTER TABLE state RENAME TO elsewhere");
    forgetState(life.sql);
    expect(() => notes.look(turn)).not.toThrow();
    life.sql.exec("ALTER TABLE elsewhere RENAME TO state");
  });
});

test("SESS-06: two sessions have their own, the next and a reused id start empty", async () => {
  const [first, second] = [await session(), await session()];
  for (const [id, word] of [
    [first, "amber"],
    [second, "birch"],
  ] as const) {
    await inside(id, async (life) => {
      model.enqueue({
        tools: [edit("# Title\n", `# Title\n${word}\n`)],
        match: { purpose: "session-notes", session: id },
      });
      await life.update(10_000);
    });
  }
  const text = (id: string) => inside(id, ({ sql }) => readNotes(sql).text);
  expect([await text(first), await text(second)].map((one) => one.split("\n")[1])).toEqual([
    "amber",
    "birch",
  ]);
  await stub(first).destroy();
  await inside(first, ({ sql }) => createSchema(sql));
  for (const id of [first, await session()]) {
    expect(await inside(id, ({ kept }) => kept())).toEqual({
      ...{ text: NOTES_TEMPLATE, version: 0, updatedAt: undefined },
      ...{ baseline: null, upTo: null, epoch: 0 },
    });
  }
  // Nothing of them lies where memories lie.
  expect(
    (await env.FILES.list({ prefix: "t/acme/u/ann/" })).objects.filter(isOf(first, second)),
  ).toEqual([]);
});

test("a person's change holds to what they knew, keeps the headings and has a size", async () => {
  const id = await session();
  await inside(id, ({ sql }) => {
    putNotes(sql, MINE, { ifAbsent: true }, 5);
    expect(notesPage(sql)).toMatchObject({
      etag: "1",
      body: { notes: MINE, updated_at: "1970-01-01T00:00:00.005Z" },
    });
    const refused = (text: string, precondition?: { ifMatch: string } | { ifAbsent: true }) => {
      try {
        putNotes(sql, text, precondition, 6);
      } catch (error) {
        return `${Reflect.get(Object(error), "code")}: ${(error as Error).message}`;
      }
      return "taken";
    };
    expect(refused(NOTES_TEMPLATE, { ifAbsent: true })).toMatch(/^precondition_failed/);
    expect(refused(NOTES_TEMPLATE, { ifMatch: "0" })).toMatch(/^precondition_failed/);
    expect(refused("# Title\n")).toMatch(/^invalid_request: notes: the headings .*"# Work log"/);
    expect(refused(`${MINE}${"x".repeat(100_000)}`)).toMatch(/^too_large: notes: \d+ bytes/);
    expect(notesPage(sql).etag).toBe("1");
    // The same again, in another system's line ends, is no change.
    putNotes(sql, MINE.replaceAll("\n", "\r\n"), { ifMatch: "1" }, 7);
    expect(notesPage(sql).etag).toBe("1");
    putNotes(sql, NOTES_TEMPLATE, { ifMatch: "1" }, 7);
    expect(notesPage(sql)).toMatchObject({ etag: "2", body: { notes: NOTES_TEMPLATE } });
  });
});

test("an archived session's notes are read and not changed", async () => {
  const id = await session();
  await inside(id, ({ sql }) => archive(sql));
  expect(await stub(id).notes()).toMatchObject({ ok: true });
  expect(await stub(id).putNotes(MINE, undefined)).toMatchObject({
    ok: false,
    code: "invalid_request",
  });
});

test("a session that ends waits for its update, and drops it where it takes too long", {
  timeout: 20_000,
}, async () => {
  for (const [drain, takes, noted] of [
    ["5000", 300, true],
    ["50", 1_200, false],
  ] as const) {
    const id = await updating(takes, { EXTRACTION_DRAIN_MS: drain });
    expect(await stub(id).archive()).toMatchObject({ ok: true });
    const titled = async () => {
      const page = await stub(id).notes();
      return page.ok && String(page.value.body.notes).startsWith("# Title\nTitle\n");
    };
    expect(await titled()).toBe(noted);
    await new Promise((resolve) => setTimeout(resolve, takes + 200));
    expect(await titled()).toBe(noted);
  }
});

test("of a session that was deleted during an update nothing comes after", {
  timeout: 20_000,
}, async () => {
  const id = await updating(1_000, {});
  expect(await stub(id).destroy()).toMatchObject({ ok: true });
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  const tables = "SELECT name FROM sqlite_master WHERE name IN ('meta', 'notes', 'runs')";
  expect(await inside(id, ({ sql }) => sql.exec(tables).toArray())).toEqual([]);
});

/** A session whose fork has asked the model, which takes so long to answer. */
async function updating(delayMs: number, variables: Record<string, string>): Promise<string> {
  const id = await session();
  await withModel(id, { NOTES_FIRST_TOKENS: "1", EXTRACTION_EVERY_TURNS: "0", ...variables });
  model.enqueue({
    tools: [edit("# Title\n", "# Title\nTitle\n")],
    delayMs,
    match: { purpose: "session-notes" },
  });
  const content = [{ type: "text" as const, text: "hello" }];
  expect(await stub(id).send([{ type: "user.message", content }], undefined)).toMatchObject({
    ok: true,
  });
  await eventually(() =>
    model.requests.some((one) => one.session === id && one.purpose === "session-notes"),
  );
  return id;
}

function isOf(...ids: string[]) {
  return ({ key }: { key: string }) => ids.some((id) => key.includes(id));
}
