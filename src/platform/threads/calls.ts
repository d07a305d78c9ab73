// The tool calls of the last answer and how far each has come, until their results are a message.

import * as z from "zod";
import { operation, receipt } from "../../shared/files/receipt.ts";
import type { CallState } from "../../shared/loop/steps.ts";
import type { ToolResult } from "../../shared/loop/tool.ts";
import type { StoredResult } from "../../shared/thread/entry.ts";
import type { ToolResultBlock, ToolUseBlock } from "../../shared/thread/messages.ts";
import { refuseLarge } from "./row-size.ts";
import type { Thread } from "./thread.ts";

/** As it was parsed: a copy by key would lose `__proto__`, which may be a name like any other. */
export const plainInput = z.custom<Record<string, unknown>>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
);

const note = z.discriminatedUnion("type", [
  z.object({ type: z.literal("seen"), path: z.string(), etag: z.string() }),
  z.object({
    type: z.literal("changed"),
    path: z.string(),
    operation,
    etag: z.string(),
    receipt: receipt.optional(),
  }),
]);
const permission = z.enum(["allow", "ask", "deny", "client"]);
/** A result as it is stored. */
export const toolResult = z.object({
  content: z.string(),
  isError: z.boolean(),
  notes: z.array(note),
});
const call = z.object({
  type: z.literal("tool_use"),
  id: z.string(),
  name: z.string(),
  input: plainInput,
});

type Row = {
  body: string;
  malformed: string | null;
  permission: string | null;
  plan: string | null;
  result: string | null;
};

/** Adds a call of an answer. Within a transaction, like all that changes a call. */
export function addCall({ sql, id }: Thread, state: CallState): void {
  sql.exec(
    "INSERT INTO calls (thread, id, body, malformed, permission) VALUES (?, ?, ?, ?, ?)",
    id,
    state.call.id,
    JSON.stringify(state.call),
    state.malformed ?? null,
    state.permission ?? null,
  );
}

/** The calls that a thread still has to answer, in their order. */
export function pendingCalls({ sql, id }: Thread): CallState[] {
  const rows = sql.exec<Row>(
    "SELECT body, malformed, permission, plan, result FROM calls WHERE thread = ? ORDER BY n",
    id,
  );
  return [...rows].map((row) => ({
    call: call.parse(JSON.parse(row.body)),
    malformed: row.malformed ?? undefined,
    permission: permission.optional().parse(row.permission ?? undefined),
    plan: row.plan ?? undefined,
    result: row.result === null ? undefined : toolResult.parse(JSON.parse(row.result)),
  }));
}

/** An event has told of a call. */
export function announceCall({ sql, id }: Thread, callId: string, eventId: string): void {
  sql.exec("UPDATE calls SET event_id = ? WHERE thread = ? AND id = ?", eventId, id, callId);
}

/** The id of the event that told of a call; undefined where none did. */
export function announcedAs({ sql, id }: Thread, callId: string): string | undefined {
  const [row] = sql
    .exec<{ event_id: string | null }>(
      "SELECT event_id FROM calls WHERE thread = ? AND id = ?",
      id,
      callId,
    )
    .toArray();
  return row?.event_id ?? undefined;
}

/** Keeps what a call is about to do. */
export function planCall({ sql, id }: Thread, callId: string, plan: string): void {
  refuseLarge(plan, "The change of a tool call");
  sql.exec("UPDATE calls SET plan = ? WHERE thread = ? AND id = ?", plan, id, callId);
}

/** Keeps what a call did, and where all of its result lies. */
export function finishCall(
  { sql, id }: Thread,
  callId: string,
  done: ToolResult,
  stored: string | undefined,
): void {
  const body = JSON.stringify(done);
  refuseLarge(body, "The result of a tool call");
  sql.exec(
    "UPDATE calls SET result = ?, stored = ? WHERE thread = ? AND id = ?",
    body,
    stored ?? null,
    id,
    callId,
  );
}

/** The calls of which a file holds all of the result. */
export function storedCalls({ sql, id }: Thread): StoredResult[] {
  const rows = sql.exec<{ id: string; stored: string }>(
    "SELECT id, stored FROM calls WHERE thread = ? AND stored IS NOT NULL",
    id,
  );
  return [...rows].map((row) => ({ callId: row.id, path: row.stored }));
}

/** The tool and input of a call that is not forgotten yet. */
export function callById({ sql, id }: Thread, callId: string): ToolUseBlock | undefined {
  const [row] = sql
    .exec<{ body: string }>("SELECT body FROM calls WHERE thread = ? AND id = ?", id, callId)
    .toArray();
  return row && call.parse(JSON.parse(row.body));
}

/**
 * A block for each call of a turn that goes no further: what a call did, where that is on disk, else
 * `otherwise` as an error. Reads rows as they are, since it also serves a turn that they have broken.
 */
export function closingResults({ sql, id }: Thread, otherwise: string): ToolResultBlock[] {
  const rows = sql.exec<{ id: string; result: string | null }>(
    "SELECT id, result FROM calls WHERE thread = ? ORDER BY n",
    id,
  );
  return [...rows].map((row): ToolResultBlock => {
    const done = row.result === null ? undefined : readResult(row.result);
    const content = done?.content ?? otherwise;
    const block: ToolResultBlock = { type: "tool_result", tool_use_id: row.id, content };
    return (done?.isError ?? true) ? { ...block, is_error: true } : block;
  });
}

/** Forgets the calls of a thread; their results are a message now. */
export function dropCalls({ sql, id }: Thread): void {
  sql.exec("DELETE FROM calls WHERE thread = ?", id);
}

function readResult(text: string): ToolResult | undefined {
  try {
    return toolResult.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
