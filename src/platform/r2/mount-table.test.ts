import { expect, test } from "vitest";
import type { EnabledPlace } from "../../shared/settings/locate.ts";
import { memoryPrefix } from "./mount-table.ts";

const ann = { tenant: "acme", user: "ann" };
const place: EnabledPlace = {
  enabled: true,
  rule: "default",
  directory: "/memory/projects/app-abc/memory",
  slug: "app-abc",
  root: "/workspace/app",
  source: "default",
  ignored: [],
};

test("the default place lies by its slug, whatever the base is called", () => {
  const key = "t/acme/u/ann/memory/projects/app-abc/memory/";
  expect(memoryPrefix(ann, place)).toBe(key);
  expect(memoryPrefix(ann, { ...place, directory: "/mnt/x/projects/app-abc/memory" })).toBe(key);
});

test("a chosen place lies by its path, whoever chose it", () => {
  for (const source of ["override", "settings"] as const) {
    expect(memoryPrefix(ann, { ...place, source, directory: "/data/50% 会议/mem" })).toBe(
      "t/acme/u/ann/dirs/%2Fdata%2F50%25 会议%2Fmem/",
    );
  }
});

test("no tenant, user or directory can spell another one's prefix", () => {
  const owners = [ann, { tenant: "acme/u", user: "ann" }, { tenant: "acme", user: "ann/dirs" }];
  const names = [
    { tenant: "acme", user: "../bob" },
    { tenant: "..", user: "ann" },
  ];
  const prefixes = [...owners, ...names].flatMap((owner) => [
    memoryPrefix(owner, place),
    memoryPrefix(owner, { ...place, source: "settings", directory: "/dirs/a" }),
    memoryPrefix(owner, {
      ...place,
      source: "settings",
      directory: "/memory/projects/app-abc/memory",
    }),
  ]);
  expect(new Set(prefixes).size).toBe(prefixes.length);
  for (const prefix of prefixes) {
    expect(prefix).toMatch(/^t\/[^/]+\/u\/[^/]+\/(?:dirs|memory\/projects)\//);
    expect(prefix.split("/")).not.toContain("..");
    for (const other of prefixes) expect(other !== prefix && other.startsWith(prefix)).toBe(false);
  }
});
