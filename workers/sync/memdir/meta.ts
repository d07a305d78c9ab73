import * as z from "zod";
import type { StoreMeta } from "../../../src/platform/objects/memdir-rpc.ts";

const schema = z.object({
  id: z.string(),
  tenant: z.string(),
  user: z.string(),
  kind: z.enum(["auto", "team", "agent", "custom"]),
  prefix: z.string(),
  name: z.string(),
  description: z.string(),
  metadata: z.record(z.string(), z.string()),
  createdAt: z.number(),
  updatedAt: z.number(),
  archivedAt: z.number().nullable(),
});

/** The directory's row; it must exist. `listed`: its owner's account knows of it. */
export function readStoreMeta(sql: SqlStorage): { meta: StoreMeta; listed: boolean } {
  const { body, listed } = sql
    .exec<{ body: string; listed: number }>("SELECT body, listed FROM meta")
    .one();
  return { meta: schema.parse(JSON.parse(body)), listed: listed === 1 };
}

/** Replaces the directory's row. */
export function writeStoreMeta(sql: SqlStorage, meta: StoreMeta, listed: boolean): void {
  sql.exec(
    "INSERT OR REPLACE INTO meta (id, body, listed) VALUES (1, ?, ?)",
    JSON.stringify(meta),
    listed ? 1 : 0,
  );
}
