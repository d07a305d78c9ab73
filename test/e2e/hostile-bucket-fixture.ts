// A bucket with files that no hostile path may reach, and what is looked at afterwards.

import { expect } from "vitest";
import type { Bucket } from "./service.ts";

const VICTIMS = [
  "t/acme/u/ann/w/victim/keep.md",
  "t/acme/u/ann/w/victim/victim/keep.md",
  "t/acme/u/ann/w/attack-evil/a.md",
  "t/acme/u/ann/memory/projects/victim/memory/MEMORY.md",
  "t/acme/u/ann/home/.claude/CLAUDE.md",
  "t/acme/u/bob/w/victim/keep.md",
  "t/acme/u/bob/memory/projects/victim/memory/MEMORY.md",
  "t/acme/managed/CLAUDE.md",
  "t/acme/w/shared-victim/keep.md",
  "t/other/u/bob/w/victim/keep.md",
];

export interface Watched {
  objects(): Promise<Map<string, string>>;
  /** Nothing that was there is changed or gone, and what is new lies below these prefixes. */
  expectOnly(before: Map<string, string>, ...prefixes: string[]): Promise<void>;
}

/** Puts the victims. */
export async function watchedBucket(bucket: Bucket): Promise<Watched> {
  for (const key of VICTIMS) await bucket.put(key, `secret of ${key}`);
  const objects = () => objectsOf(bucket);
  return {
    objects,
    expectOnly: async (before, ...prefixes) => expectOnly(before, await objects(), prefixes),
  };
}

/** Every object of the bucket with its etag. */
async function objectsOf(bucket: Bucket): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  let cursor: string | undefined;
  do {
    const page = await bucket.list(cursor === undefined ? {} : { cursor });
    for (const { key, etag } of page.objects) found.set(key, etag);
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor !== undefined);
  return found;
}

function expectOnly(
  before: Map<string, string>,
  after: Map<string, string>,
  prefixes: readonly string[],
): void {
  const inside = (key: string) => prefixes.some((prefix) => key.startsWith(prefix));
  const changed = [...before].filter(([key, etag]) => after.get(key) !== etag && !inside(key));
  const strange = [...after.keys()].filter((key) => !before.has(key) && !inside(key));
  expect({ changed, strange }).toEqual({ changed: [], strange: [] });
  for (const key of VICTIMS) expect(after.has(key), key).toBe(true);
  // Not one of the new keys can be read as one that lies elsewhere.
  const escaping = [...after.keys()].filter((key) =>
    /(^|\/)\.{1,2}(\/|$)|\/\/|\\|\p{Cc}/u.test(key),
  );
  expect(escaping).toEqual([]);
}
