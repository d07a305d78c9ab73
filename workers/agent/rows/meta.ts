// What is known of a session beside its conversation.

import * as z from "zod";
import { permissionMode } from "../../../src/shared/tools/permission.ts";
import { keptTool } from "../contract/custom-tools.ts";
import { midTurnMessages } from "../contract/session-modes.ts";

const ignored = z.array(
  z.object({
    source: z.enum(["policy", "local", "project", "user", "environment", "git"]),
    key: z.string(),
    reason: z.string(),
  }),
);

const memorySchema = z.discriminatedUnion("enabled", [
  z.object({ enabled: z.literal(false), rule: z.string(), ignored }),
  z.object({
    enabled: z.literal(true),
    rule: z.string(),
    directory: z.string(),
    storeId: z.string(),
    secrets: z.enum(["refuse", "warn"]),
    ignored,
  }),
]);

export type SessionMemory = z.infer<typeof memorySchema>;

const schema = z.object({
  id: z.string(),
  tenant: z.string(),
  user: z.string(),
  role: z.enum(["member", "admin"]),
  environmentId: z.string(),
  projectRoot: z.string(),
  model: z.string(),
  /** Replaces the agent's own words at the head of the system prompt. */
  system: z.string().nullable(),
  title: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
  memory: memorySchema,
  permissionMode,
  /** Whether messages that come while a turn runs wait for their own, or join it. */
  midTurnMessages,
  /** Tools that the client runs, in the order in which the model has them. */
  clientTools: z.array(keptTool),
  createdAt: z.number(),
  updatedAt: z.number(),
  archivedAt: z.number().nullable(),
  /** Set when DELETE was acknowledged to have begun: nothing new is taken, the rest is cleared. */
  deleting: z.boolean(),
  /** Milliseconds for which turns that have ended ran. */
  activeMs: z.number(),
});

export type Meta = z.infer<typeof schema>;
/** A session before its memory was looked for. */
export type NewMeta = Omit<Meta, "memory">;

/** The session's row; it must exist. */
export function readMeta(sql: SqlStorage): Meta {
  const { body } = sql.exec<{ body: string }>("SELECT body FROM meta").one();
  return schema.parse(JSON.parse(body));
}

/** Replaces the session's row. */
export function writeMeta(sql: SqlStorage, meta: Meta): void {
  sql.exec("INSERT OR REPLACE INTO meta (id, body) VALUES (1, ?)", JSON.stringify(meta));
}
