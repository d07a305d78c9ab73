// Every store says in its metadata what kind it is; a memory directory also says whose project it
// is. Those two are ours: clients see them beside their own pairs and cannot change them.

import type { StoreMeta } from "../../../src/platform/objects/memdir-rpc.ts";
import { MemdirError } from "../../../src/shared/errors.ts";
import { METADATA_PAIRS } from "../../../src/shared/limits/http.ts";

type Pairs = Record<string, string>;
type Described = Pick<StoreMeta, "kind" | "metadata">;

/** The metadata as clients see it. */
export function shownMetadata(meta: Described): Pairs {
  return { ...meta.metadata, kind: meta.kind };
}

/** Throws `invalid_request` for a change of what is ours; the store itself merges the pairs. */
export function checkMetadataPatch(meta: Described, patch: Record<string, string | null>): void {
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
}

/** The metadata of a new store: the client's pairs, without those that are ours. */
export function newMetadata(kind: StoreMeta["kind"], pairs: Record<string, string>): Pairs {
  checkMetadataPatch({ kind, metadata: {} }, pairs);
  const own = Object.entries(pairs).filter(([key]) => key !== "kind");
  if (own.length > METADATA_PAIRS) {
    throw new MemdirError(
      "invalid_request",
      `metadata: ${own.length} pairs; a store has at most ${METADATA_PAIRS}`,
    );
  }
  return Object.fromEntries(own);
}
