// One update of the notes: what its fork may do, and that whatever goes wrong leaves them as they were.

import { expect, test } from "vitest";
import type { ScriptStep } from "../../../dev/fake-model/script.ts";
import { lostHeadings } from "../../../src/shared/session-memory/sections.ts";
import { NOTES_TEMPLATE } from "../../../src/shared/session-memory/template.ts";
import { notesState, readNotes, rebaseNotes } from "../rows/notes.ts";
import { unreportedUsage } from "../rows/usage.ts";
import { eventually } from "../testing/eventually-fixture.ts";
import { edit, inside, model, session, withNotes } from "../testing/notes-life-fixture.ts";
import { putNotes } from "./notes-page.ts";

withNotes();

const fork = (step: ScriptStep) => model.enqueue({ match: { purpose: "session-notes" }, ...step });
const TASK = edit("# Task\n", "# Task\nBuild a boat.\n");

test("an update takes in what the fork wrote, moves the mark and tells of it with its turn", async () => {
  const id = await session();
  await inside(id, async (life) => {
    fork({ tools: [TASK] });
    await life.update(10_000);
    const { text, version, upTo } = readNotes(life.sql);
    expect(text).toBe(NOTES_TEMPLATE.replace("# Task\n", "# Task\nBuild a boat.\n"));
    expect([version, upTo]).toEqual([1, 2]);
    expect(notesState(life.sql)).toMatchObject({ baseline: 10_000, toolCalls: 0 });
    expect(life.runs()).toMatchObject([{ outcome: "end_turn", firstTurn: 1, lastTurn: 1 }]);
    const turn = life.sql.exec("SELECT event_id FROM turns").one();
    expect(life.events()).toMatchObject([
      {
        type: "session_memory.updated",
        turn_id: turn.event_id,
        tokens: expect.any(Number),
        sections: [{ name: "Task", tokens: expect.any(Number) }],
      },
    ]);
    expect(unreportedUsage(life.sql)).toMatchObject([{ purpose: "session-notes", requests: 2 }]);
  });
});

test("SESS-05: each hostile attempt is refused and listed with its reason; what is right is taken", async () => {
  const id = await session();
  await inside(id, async (life) => {
    fork({ tools: [TASK] });
    await life.update(10_000);
    const { text } = readNotes(life.sql);
    const two = text.slice(text.indexOf("# Lessons"), text.indexOf("# Work log"));
    fork({
      tools: [
        { name: "Write", input: { file_path: "/session/notes.md", content: text } },
        edit("a", "b", `/memory/projects/${id}/memory/MEMORY.md`),
        edit("Build a boat.", "Build a ship.", "/session/sesn_other/notes.md"),
        edit("Build", "Sink", "/session/../workspace/w/a.md"),
        edit(two, ""),
        edit(text, ""),
        edit("Build a boat.\n", ""),
        { name: "Read", input: { file_path: "/workspace/w/src/a.ts" } },
        { name: "Delete", input: { file_path: "/session/notes.md" } },
        edit("# Lessons\n", "# Lessons\nMeasure twice.\n"),
      ],
    });
    await life.update(15_000);
    const [, run] = life.runs();
    expect(run?.log.calls).toHaveLength(10);
    const errors = run?.log.calls.map(({ error }) => error) ?? [];
    for (const error of errors.slice(0, 9)) expect(error).toMatch(/Refused: .{20,}/);
    expect(run?.log.calls[9]).toEqual({ tool: "Edit", path: "/session/notes.md" });
    const after = readNotes(life.sql).text;
    expect(after).toBe(text.replace("# Lessons\n", "# Lessons\nMeasure twice.\n"));
    expect(lostHeadings(after)).toEqual([]);
    expect(life.events().at(-1)?.sections).toMatchObject([{ name: "Lessons" }]);
  });
});

test.each<[string, ScriptStep[], string]>([
  [
    "an error of the server",
    [{ tools: [TASK] }, { fault: { type: "status", status: 400 } }],
    "failed",
  ],
  [
    "a stream that is cut",
    [{ tools: [TASK] }, { text: "x", fault: { type: "cut" }, times: 2 }],
    "failed",
  ],
  ["a refusal", [{ tools: [TASK] }, { fault: { type: "refusal" } }], "refusal"],
  [
    "a stop that nobody knows",
    [{ tools: [TASK] }, { text: "x", fault: { type: "unknown_stop" } }],
    "stopped",
  ],
])("%s leaves the notes byte for byte and the mark where it was", async (_what, steps, outcome) => {
  const id = await session();
  await inside(id, async (life) => {
    fork({ tools: [edit("# Title\n", "# Title\nBoats\n")] });
    await life.update(10_000);
    const before = life.kept();
    for (const step of steps) fork(step);
    await life.update(15_000);
    expect(life.kept()).toEqual(before);
    expect(life.runs().at(-1)).toMatchObject({ outcome, log: { calls: [{ tool: "Edit" }] } });
    expect(life.events()).toHaveLength(1);
    // Still due: the next answer tries again, and what the failed one did is not there twice.
    model.reset();
    fork({ tools: [TASK] });
    await life.update(15_010);
    expect(readNotes(life.sql).text.match(/Build a boat/g)).toHaveLength(1);
    expect(notesState(life.sql).baseline).toBe(15_010);
  });
});

test("an update that finds nothing new moves the mark, and says nothing", async () => {
  const id = await session();
  await inside(id, async (life) => {
    fork({ text: "Nothing has changed." });
    await life.update(10_000);
    expect(notesState(life.sql)).toMatchObject({ baseline: 10_000, version: 0, upTo: 2 });
    expect(life.events()).toEqual([]);
    expect(life.runs()).toMatchObject([{ outcome: "nothing_new" }]);
    await life.update(14_999);
    expect(life.runs()).toHaveLength(1);
  });
});

test("a fork that reaches its number of steps has done what it did", async () => {
  const id = await session();
  await inside(id, async (life) => {
    for (let n = 1; n <= 6; n += 1) fork({ tools: [edit("# Task\n", `# Task\nstep ${n}\n`)] });
    await life.update(10_000);
    expect(life.runs()).toMatchObject([{ outcome: "iterations" }]);
    expect(life.runs().map(({ iterations }) => iterations)).toEqual([5]);
    expect(readNotes(life.sql).text).toContain("# Task\nstep 5\nstep 4\n");
    expect(notesState(life.sql).baseline).toBe(10_000);
  });
});

test("a person's text stays where it came during an update, and the next update begins with it", async () => {
  const id = await session();
  await inside(id, async (life) => {
    const mine = NOTES_TEMPLATE.replace("# Lessons\n", "# Lessons\nMine.\n");
    fork({ tools: [TASK], delayMs: 100 });
    const notes = life.notes();
    notes.look(life.grow(10_000));
    await eventually(() => model.requests.length > 0);
    putNotes(life.sql, mine, { ifAbsent: true }, 1);
    await notes.inFlight();
    expect(readNotes(life.sql)).toEqual({ text: mine, version: 1, upTo: null });
    expect(life.runs()).toMatchObject([{ outcome: "superseded" }]);
    expect(notesState(life.sql).baseline).toBeNull();
    fork({ tools: [TASK] });
    await life.update(10_010);
    expect(readNotes(life.sql).text).toBe(mine.replace("# Task\n", "# Task\nBuild a boat.\n"));
  });
});

test("COMP-01: what a stopped update still brings is dropped, and the next one may begin at once", async () => {
  const id = await session();
  await inside(id, async (life) => {
    fork({ tools: [TASK] });
    fork({ text: "Done.", delayMs: 150 });
    const notes = life.notes();
    notes.look(life.grow(10_000));
    const late = notes.inFlight();
    await eventually(() => model.requests.length > 1);
    notes.stop();
    expect(notes.inFlight()).toBeUndefined();
    rebaseNotes(life.sql, 4_000);
    await late;
    expect(readNotes(life.sql)).toEqual({ text: NOTES_TEMPLATE, version: 0, upTo: null });
    expect(life.runs()).toMatchObject([{ outcome: "interrupted" }]);
    expect(life.events()).toEqual([]);
    model.reset();
    fork({ tools: [TASK] });
    notes.look(life.grow(10_000));
    await notes.inFlight();
    expect(readNotes(life.sql).version).toBe(1);
  });
});

test("an update does not reach over a compaction, also where nobody stopped it", async () => {
  const id = await session();
  await inside(id, async (life) => {
    await life.update(12_000);
    fork({ tools: [edit("# Lessons\n", "# Lessons\nx\n")], delayMs: 100 });
    const notes = life.notes();
    notes.look(life.grow(60_000));
    await eventually(() => model.requests.length > 1);
    const before = readNotes(life.sql);
    rebaseNotes(life.sql, 18_000);
    await notes.inFlight();
    expect(readNotes(life.sql)).toEqual(before);
    expect(notesState(life.sql)).toMatchObject({ baseline: 18_000 });
    expect(life.runs().at(-1)).toMatchObject({ outcome: "superseded" });
  });
});

test("SESS-01: 12k, 60k, a compaction to 18k: the next update comes at 23k and not before", async () => {
  const id = await session();
  await inside(id, async (life) => {
    const figures: [number, number][] = [];
    const at = async (tokens: number) => {
      await life.update(tokens);
      figures.push([tokens, life.runs().length]);
    };
    await at(9_999);
    await at(12_000);
    await at(16_999);
    await at(60_000);
    rebaseNotes(life.sql, 18_000);
    await at(22_999);
    await at(23_000);
    await at(27_999);
    expect(figures).toEqual([
      [9_999, 0],
      [12_000, 1],
      [16_999, 1],
      [60_000, 2],
      [22_999, 2],
      [23_000, 3],
      [27_999, 3],
    ]);
  });
});
