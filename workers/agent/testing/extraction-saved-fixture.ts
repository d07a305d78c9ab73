// What an extraction has saved, and what people were told of it.

import { expect } from "vitest";
import type { Version } from "../../../src/platform/objects/memdir-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { readEntries } from "../../../src/platform/threads/entries.ts";
import { parseIndex } from "../../../src/shared/memdir/index-lines.ts";
import { readEvents } from "../rows/events.ts";
import { readExtraction } from "../rows/extraction-state.ts";
import { listRuns } from "../rows/runs.ts";
import { forkThread } from "../rows/session-threads.ts";
import type { Life } from "./extraction-life-fixture.ts";
import { model } from "./fork-model-fixture.ts";

/** That all of `savesThree` is there once, told once, and nothing is left to do. */
export async function verifySaved(life: Life, where: string, exactly = true): Promise<void> {
  const { sql } = life;
  const versions = await versionsOf(life);
  const written = versions.map(({ path, operation }) => `${operation} ${path}`).toSorted();
  // The index: its seed, the fork's own line, and what healing added.
  expect(written, where).toEqual(
    [
      "created MEMORY.md",
      "created city.md",
      "created dog.md",
      "created old.md",
      "created tea.md",
      "modified MEMORY.md",
      "modified MEMORY.md",
    ].toSorted(),
  );
  const index = unwrap(await life.memory().read("MEMORY.md"));
  const lines = parseIndex(new TextDecoder().decode(index?.bytes)).map(({ path }) => path);
  expect(lines.toSorted(), where).toEqual(["city.md", "dog.md", "old.md", "tea.md"]);

  const told = outcomesOf(sql);
  expect(told, where).toHaveLength(1);
  const saved = told.flatMap(({ memories }) => memories ?? []);
  const own = ownOf(versions);
  for (const { memory_version_id } of saved) {
    expect(
      own.map(({ id }) => id),
      where,
    ).toContain(memory_version_id);
  }
  // What healing added is not told of where a crash came right after it.
  const files = saved.map(({ path }) => path).filter((path) => path !== "/MEMORY.md");
  expect(files.toSorted(), where).toEqual(["/city.md", "/dog.md", "/tea.md"]);

  const [run, ...more] = listRuns(sql, "extraction", { limit: 10 });
  expect(more, where).toEqual([]);
  expect(run, where).toMatchObject({
    outcome: "end_turn",
  });
  expect(run?.iterations, where).toBe(3);
  expect(readEntries(forkThread(sql, run?.n ?? 0)), where).toEqual([]);
  expect(
    run?.log.calls.map(({ tool, error }) => [tool, error]),
    where,
  ).toEqual([
    ["Write", undefined],
    ["Write", undefined],
    ["Edit", undefined],
    ["Write", undefined],
  ]);
  const state = { cursor: 1, failures: 0, lease: null, resendAt: null };
  expect(readExtraction(sql), where).toMatchObject(state);
  // A death during an answer costs that answer, and no more.
  if (exactly)
    expect(model.requests.length, where).toBeLessThanOrEqual(where.includes("lives") ? 12 : 4);
  await life.expectFree();
}

/** Those that a session made. */
export function ownOf(versions: Version[]): Version[] {
  return versions.filter(({ actor }) => actor.type === "session");
}

export async function versionsOf(life: Life): Promise<Version[]> {
  return unwrap(await life.memory().versions({ limit: 100, withContent: false }));
}

export async function seedIndex(life: Life): Promise<void> {
  const actor = { type: "user", userId: "ann" } as const;
  const bytes = (text: string) => new TextEncoder().encode(text);
  const file = "---\nname: old\ndescription: something old\ntype: user\n---\n\nOld.\n";
  unwrap(await life.memory().write({ path: "old.md", bytes: bytes(file), actor }));
  const index = "- [old](old.md) — something old\n";
  unwrap(await life.memory().write({ path: "MEMORY.md", bytes: bytes(index), actor }));
}

interface Told {
  type: string;
  reason?: string;
  memories?: { path: string; memory_version_id: string }[];
}

/** What people were told that came of the extractions. */
export function outcomesOf(sql: SqlStorage): Told[] {
  return readEvents(sql, { limit: 1000 })
    .filter(({ type }) => type.startsWith("memory."))
    .map(({ json }): Told => JSON.parse(json));
}
