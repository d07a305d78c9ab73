// The tool calls of the last answer with their state, until their results are a message.

import * as z from "zod";
import { operation, receipt } from "../../shared/files/receipt.ts";
import type { CallState } from "../../shared/loop/steps.ts";
import type { ToolResult } from "../../shared/loop/tool.ts";
import type { StoredResult } from "../../shared/thread/entry.ts";
import type { ToolResultBlock, ToolUseBlock } from "../../shared/thread/messages.ts";
import { refuseLarge } from "./row-size.ts";
import type { Thread } from "./thread.ts";

/** Kept as it was parsed: a copy by key would lose `__proto__`, which may be the name of a field. */
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
/** A stored result. */
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

/** Adds a call of an answer. Within a transaction, as every change of a call. */
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

/** The calls of a thread whose results are not a message yet, in their order. */
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

/** Stores the id of the event that announced a call. */
export function announceCall({ sql, id }: Thread, callId: string, eventId: string): void {
  sql.exec("UPDATE calls SET event_id = ? WHERE thread = ? AND id = ?", eventId, id, callId);
}

/** The id of the event that announced a call; undefined if none did. */
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

/** Stores the plan of a call. */
export function planCall({ sql, id }: Thread, callId: string, plan: string): void {
  refuseLarge(plan, "The change of a tool call");
  sql.exec("UPDATE calls SET plan = ? WHERE thread = ? AND id = ?", plan, id, callId);
}

/** Stores the result of a call. `stored`: the path of the whole result, if it was cut. */
export function finishCall(
  { sql, id }: Thread,
  callId: string,
  result: ToolResult,
  stored: string | undefined,
): void {
  const body = JSON.stringify(result);
  refuseLarge(body, "The result of a tool call");
  sql.exec(
    "UPDATE calls SET result = ?, stored = ? WHERE thread = ? AND id = ?",
    body,
    stored ?? null,
    id,
    callId,
  );
}

/** The calls whose whole result is in a file. */
export function storedCalls({ sql, id }: Thread): StoredResult[] {
  const rows = sql.exec<{ id: string; stored: string }>(
    "SELECT id, stored FROM calls WHERE thread = ? AND stored IS NOT NULL",
    id,
  );
  return [...rows].map((row) => ({ callId: row.id, path: row.stored }));
}

/** A call of the last answer; undefined once its result is a message. */
export function callById({ sql, id }: Thread, callId: string): ToolUseBlock | undefined {
  const [row] = sql
    .exec<{ body: string }>("SELECT body FROM calls WHERE thread = ? AND id = ?", id, callId)
    .toArray();
  return row && call.parse(JSON.parse(row.body));
}

/**
 * A result block for each call of a turn that ends here: the result on disk, else `otherwise` as an
 * error. Accepts any row, since a row that cannot be read may be the reason why the turn ends.
 */
export function closingResults({ sql, id }: Thread, otherwise: string): ToolResultBlock[] {
  const rows = sql.exec<{ id: string; result: string | null }>(
    "SELECT id, result FROM calls WHERE thread = ? ORDER BY n",
    id,
  );
  return [...rows].map((row): ToolResultBlock => {
    const result = row.result === null ? undefined : readResult(row.result);
    const content = result?.content ?? otherwise;
    const block: ToolResultBlock = { type: "tool_result", tool_use_id: row.id, content };
    return (result?.isError ?? true) ? { ...block, is_error: true } : block;
  });
}

/** Deletes the calls of a thread, after their results became a message. */
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
