import * as z from "zod";
import type { MetaPatch, StoreMeta } from "../../../src/platform/objects/memdir-rpc.ts";
import { MemdirError } from "../../../src/shared/errors.ts";
import { METADATA_PAIRS } from "../../../src/shared/limits/http.ts";

const schema = z.object({
  id: z.string(),
  owner: z.discriminatedUnion("type", [
    z.object({ type: z.literal("user"), tenant: z.string(), user: z.string() }),
    z.object({ type: z.literal("repository"), tenant: z.string(), repo: z.string() }),
  ]),
  kind: z.enum(["auto", "team", "agent", "custom"]),
  prefix: z.string(),
  name: z.string(),
  description: z.string(),
  metadata: z.record(z.string(), z.string()),
  createdAt: z.number(),
  updatedAt: z.number(),
  archivedAt: z.number().nullable(),
});

export interface StoreRow {
  meta: StoreMeta;
  /** Its user's account knows of it. */
  listed: boolean;
}

/** The directory's row; it must exist. */
export function readStoreMeta(sql: SqlStorage): StoreRow {
  const { body, listed } = sql
    .exec<{ body: string; listed: number }>("SELECT body, listed FROM meta")
    .one();
  return { meta: schema.parse(JSON.parse(body)), listed: listed === 1 };
}

/** Replaces the directory's row. */
export function writeStoreMeta(sql: SqlStorage, { meta, listed }: StoreRow): void {
  sql.exec(
    "INSERT OR REPLACE INTO meta (id, body, listed) VALUES (1, ?, ?)",
    JSON.stringify(meta),
    listed ? 1 : 0,
  );
}

/** A store after a patch. Throws `invalid_request` for an archived store and for too many pairs. */
export function patchedMeta(meta: StoreMeta, patch: MetaPatch, now: number): StoreMeta {
  if (meta.archivedAt !== null) {
    throw new MemdirError(
      "invalid_request",
      "This memory store is archived: it can be read, not changed",
    );
  }
  const metadata = Object.fromEntries(
    Object.entries({ ...meta.metadata, ...patch.metadata }).filter(
      (pair): pair is [string, string] => pair[1] !== null,
    ),
  );
  const fixed = meta.kind === "custom" ? ["kind"] : ["kind", "project_root"];
  const own = Object.keys(metadata).filter((key) => !fixed.includes(key));
  if (own.length > METADATA_PAIRS) {
    throw new MemdirError(
      "invalid_request",
      `metadata: ${own.length} pairs after the change; a store may have ${METADATA_PAIRS}`,
    );
  }
  const { name = meta.name, description = meta.description } = patch;
  return { ...meta, name, description, metadata, updatedAt: now };
}
