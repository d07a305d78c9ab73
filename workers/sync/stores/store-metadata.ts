// Every store says in its metadata what kind it is; a memory directory also says whose project it
// is. Those two are ours: they are shown with the client's pairs and cannot be changed.

import type { StoreMeta } from "../../../src/platform/memdir-rpc.ts";
import { MemdirError } from "../../../src/shared/errors.ts";
import { METADATA_PAIRS } from "../../../src/shared/limits.ts";

type Pairs = Record<string, string>;
type Described = Pick<StoreMeta, "kind" | "metadata">;

/** The metadata as clients see it. */
export function shownMetadata(meta: Described): Pairs {
  return { ...meta.metadata, kind: meta.kind };
}

/**
 * The metadata after a change; a null takes its key away. Throws `invalid_request` for a change of
 * what is ours, and where more than the allowed pairs would be left.
 */
export function patchedMetadata(meta: Described, patch: Record<string, string | null>): Pairs {
  const shown = shownMetadata(meta);
  const fixed = meta.kind === "custom" ? ["kind"] : ["kind", "project_root"];
  for (const key of fixed) {
    if (Object.hasOwn(patch, key) && patch[key] !== shown[key]) {
      throw new MemdirError(
        "invalid_request",
        `metadata.${key}: is set by the service and stays "${shown[key] ?? ""}"; leave it out`,
      );
    }
  }
  const pairs = Object.entries({ ...meta.metadata, ...patch }).filter(
    (pair): pair is [string, string] => pair[0] !== "kind" && pair[1] !== null,
  );
  if (pairs.length > METADATA_PAIRS) {
    throw new MemdirError(
      "invalid_request",
      `metadata: ${pairs.length} pairs; a store has at most ${METADATA_PAIRS}`,
    );
  }
  return Object.fromEntries(pairs);
}
