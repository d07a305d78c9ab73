// What is known of a session beside its conversation: what was fixed when it was made, and what every
// turn changes, apart, so that a turn does not write all of it.

import * as z from "zod";
import { defineState } from "../../../src/platform/state.ts";
import { permissionMode } from "../../../src/shared/tools/permission.ts";
import { keptTool } from "../contract/custom-tools.ts";
import { DEFAULT_ZONE, midTurnMessages } from "../contract/session-modes.ts";

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

const fixedSchema = z.object({
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
  /** IANA name of the zone whose days the model is told. */
  timeZone: z.string().default(DEFAULT_ZONE),
  memory: memorySchema,
  permissionMode,
  /** Whether messages that come while a turn runs wait for their own, or join it. */
  midTurnMessages,
  /** Tools that the client runs, in the order in which the model has them. */
  clientTools: z.array(keptTool),
  createdAt: z.number(),
  archivedAt: z.number().nullable(),
  /** Set when DELETE was acknowledged to have begun: nothing new is taken, the rest is cleared. */
  deleting: z.boolean(),
});
const timesSchema = z.object({
  updatedAt: z.number(),
  /** Milliseconds for which turns that have ended ran. */
  activeMs: z.number(),
});

type Times = z.infer<typeof timesSchema>;
export type Meta = z.infer<typeof fixedSchema> & Times;
/** A session before its settings and its memory were looked for. */
export type NewMeta = Omit<Meta, "memory" | "timeZone">;

const fixed = defineState("meta", fixedSchema.nullable(), null);
const times = defineState("times", timesSchema, { updatedAt: 0, activeMs: 0 });

/** The session must exist. */
export function readMeta(sql: SqlStorage): Meta {
  const found = fixed.read(sql);
  if (!found) throw new Error("This object holds no session");
  return { ...found, ...times.read(sql) };
}

/** Replaces all of it. */
export function writeMeta(sql: SqlStorage, { updatedAt, activeMs, ...meta }: Meta): void {
  fixed.write(sql, meta);
  times.write(sql, { updatedAt, activeMs });
}

/** Changes what turns change. */
export function changeTimes(sql: SqlStorage, change: Partial<Times>): void {
  times.write(sql, { ...times.read(sql), ...change });
}
