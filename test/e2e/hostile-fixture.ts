// What the tests of hostile paths share: a service that is attacked, and its bucket that is watched.

import type Anthropic from "@anthropic-ai/sdk";
import type { HostilePath } from "../hostile-paths.ts";
import { type Watched, watchedBucket } from "./hostile-bucket-fixture.ts";
import { bucketOf, NO_BACKGROUND, serviceOfFile, type TestService } from "./service.ts";

/** Requests in flight. */
export const LANES = 6;

export interface Attacked extends Watched {
  service: TestService;
  client: Anthropic;
  token: string;
}

/** The service of a test file, with victims in its bucket. */
export async function attackedService(): Promise<Attacked> {
  const service = await serviceOfFile(NO_BACKGROUND);
  return {
    service,
    client: await service.client(),
    token: await service.token(),
    ...(await watchedBucket(await bucketOf(service))),
  };
}

/** So many of them, evenly over all kinds: each costs several calls here. */
export function thinned<T extends HostilePath>(paths: readonly T[], kept: number): T[] {
  if (kept >= paths.length) return [...paths];
  return paths.filter(
    (_, n) => Math.floor(((n + 1) * kept) / paths.length) > Math.floor((n * kept) / paths.length),
  );
}

export interface AutoMemory {
  enabled: boolean;
  directory: string | null;
  ignored: { source: string; key: string; reason: string }[];
}

/** Runs each item, some at a time, and collects what is wrong. */
export async function eachOf<T>(
  items: readonly T[],
  check: (item: T, lane: number) => Promise<unknown>,
) {
  const wrong: unknown[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: LANES }, async (_, lane) => {
      for (let item = items[next++]; item !== undefined; item = items[next++]) {
        const problem = await check(item, lane);
        if (problem !== undefined) wrong.push(problem);
      }
    }),
  );
  return wrong;
}

/** Not the one of `path.ts`, which is under test too. */
export function isInside(root: string, path: string): boolean {
  return `${path}/`.startsWith(`${root}/`);
}
