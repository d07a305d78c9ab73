// What one invocation of an object may ask of the outside is limited. A turn that comes near the limit
// goes on in a new invocation, by the alarm: everything that it needs is on disk.

import { SUBREQUESTS_MOST } from "../../../src/shared/limits/files.ts";
import { RETRY_FIRST_MS } from "../../../src/shared/limits/turn.ts";
import type { TurnHook } from "../../../src/shared/turn/hooks.ts";

/** The calls of an invocation so far. */
export interface Subrequests {
  used: number;
}

/** The same bucket; each call is counted. */
export function countedFiles(bucket: R2Bucket, subrequests: Subrequests): R2Bucket {
  return new Proxy(bucket, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return (...args: unknown[]) => {
        subrequests.used += 1;
        return Reflect.apply(method, target, args);
      };
    },
  });
}

/** Where an invocation has used up its part, the turn pauses before its next model call. */
export function subrequestsHook(subrequests: Subrequests): TurnHook {
  return {
    prepare: async () =>
      subrequests.used < SUBREQUESTS_MOST
        ? { status: "ready" }
        : { status: "paused", ms: RETRY_FIRST_MS },
  };
}
