import { expect, it } from "vitest";
import { SCAN_FILES } from "../limits/memory.ts";
import { offer } from "./offer.ts";
import { candidate, DAY, NOW } from "./recall-fixture.ts";

const none = { shown: new Set<string>(), read: new Set<string>(), readContents: new Set<string>() };
const pathsOf = (updated: Record<string, number>) => {
  const scanned = Object.entries(updated).map(([path, updatedAt]) =>
    candidate(path, { updatedAt }),
  );
  return offer(scanned, none, NOW).offered.map(({ path }) => path);
};

it("REC-05: offers 200 of 1,251 files, the newest first, though its name is the last", () => {
  const names = Array.from({ length: 1250 }, (_, at) => `a${String(at).padStart(4, "0")}.md`);
  const scanned = names.map((path) => candidate(path, { updatedAt: NOW - DAY }));
  const { offered } = offer([...scanned, candidate("zz_today.md", { updatedAt: NOW })], none, NOW);
  expect(offered).toHaveLength(SCAN_FILES);
  expect(offered.map(({ path }) => path)).toEqual([
    "zz_today.md",
    ...names.slice(0, SCAN_FILES - 1),
  ]);
  const again = offer(
    [candidate("zz_today.md", { updatedAt: NOW }), ...scanned.toReversed()],
    none,
    NOW,
  );
  expect(again.offered).toEqual(offered);
});

it("TRUST-03: puts no file on top for a time in the future, and unknown times last", () => {
  expect(pathsOf({ "b.md": NOW + 9 * DAY, "a.md": NOW, "c.md": NOW + DAY })).toEqual([
    ...["a.md", "b.md", "c.md"],
  ]);
  expect(pathsOf({ "a.md": 0, "b.md": Number.NaN, "c.md": 1, "d.md": -1 })).toEqual([
    ...["c.md", "a.md", "b.md", "d.md"],
  ]);
});

it("passes over what is no memory without a word, and says what was shown or read before", () => {
  const scanned = ["a.md", "MEMORY.md", "b.md", "c.md", ".x.md", "d.md", "a.md"].map((path) =>
    candidate(path),
  );
  const seen = {
    shown: new Set(["mem_b.md", "mem_c.md"]),
    read: new Set(["c.md", "d.md", "MEMORY.md"]),
    readContents: new Set<string>(),
  };
  const { offered, dropped } = offer(scanned, seen, NOW);
  expect(offered.map(({ path }) => path)).toEqual(["a.md"]);
  expect(dropped).toEqual([
    { path: "b.md", reason: "already_shown" },
    { path: "c.md", reason: "already_shown" },
    { path: "d.md", reason: "already_read" },
  ]);
});

it("TRUTH-09: knows what was shown by its id, and what was read by its content, under any name", () => {
  const scanned = [
    candidate("new-name.md", { id: "mem_1" }),
    candidate("moved.md", { sha256: "abc" }),
    candidate("old-name.md", { id: "mem_2" }),
  ];
  const held = {
    shown: new Set(["mem_1"]),
    read: new Set<string>(),
    readContents: new Set(["abc"]),
  };
  const { offered, dropped } = offer(scanned, held, NOW);
  // Another memory that took the old name is another memory.
  expect(offered.map(({ path }) => path)).toEqual(["old-name.md"]);
  expect(dropped).toEqual([
    { path: "new-name.md", reason: "already_shown" },
    { path: "moved.md", reason: "already_read" },
  ]);
});
