// What this object is about to do in R2. An intent is on disk before its effect, with its content, and
// leaves with the commit.

import * as z from "zod";
import { actorSchema } from "./versions.ts";

const schema = z.object({
  op: z.enum(["put", "delete"]),
  /** Where the memory is to be; for a deletion where it was. */
  path: z.string(),
  /** Where it was, for a rename. */
  from: z.string().optional(),
  memoryId: z.string(),
  versionId: z.string(),
  createdAt: z.number(),
  at: z.number(),
  /** When the content last changed; a rename does not change it. */
  updatedAt: z.number(),
  actor: actorSchema,
  /** What R2 has at `path` as far as we know, and at `from`. */
  etag: z.string().nullable(),
  fromEtag: z.string().nullable(),
  /** Whether the outbox has `path` or `from`. */
  late: z.boolean(),
  /** Number and hash of the content; null for a deletion. */
  content: z.object({ n: z.number(), sha256: z.string() }).nullable(),
});
export type Intent = z.infer<typeof schema>;

/** Stores an intent; the answer is its number. */
export function addIntent(sql: SqlStorage, intent: Intent): number {
  const body = JSON.stringify(intent);
  return sql.exec<{ id: number }>("INSERT INTO intents (body) VALUES (?) RETURNING id", body).one()
    .id;
}

export function dropIntent(sql: SqlStorage, id: number): void {
  sql.exec("DELETE FROM intents WHERE id = ?", id);
}

/** Intents that nobody finished, oldest first; undefined for one that cannot be read. */
export function leftIntents(sql: SqlStorage): { id: number; intent: Intent | undefined }[] {
  const rows = sql.exec<{ id: number; body: string }>("SELECT id, body FROM intents ORDER BY id");
  return [...rows].map(({ id, body }) => ({ id, intent: schema.safeParse(JSON.parse(body)).data }));
}
