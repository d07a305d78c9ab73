// The tool calls of the last answer and how far each has come, until their results are a message.

import * as z from "zod";
import type { ToolResultBlock } from "../../shared/loop/messages.ts";
import type { CallState } from "../../shared/loop/steps.ts";
import type { ToolNote, ToolResult } from "../../shared/loop/tool.ts";
import { refuseLarge } from "./row-size.ts";

/** As it was parsed: a copy by key would lose `__proto__`, which may be a name like any other. */
export const plainInput = z.custom<Record<string, unknown>>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
);

const operation = z.enum(["created", "modified", "deleted"]);
const receipt = z.object({
  path: z.string(),
  operation,
  memoryId: z.string(),
  versionId: z.string(),
  n: z.number(),
});
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
const result = z.object({ content: z.string(), isError: z.boolean(), notes: z.array(note) });
const call = z.object({
  type: z.literal("tool_use"),
  id: z.string(),
  name: z.string(),
  input: plainInput,
});

/** A call of a run that keeps all of its state in one place. */
export const callState = z.object({
  call,
  malformed: z.string().optional(),
  plan: z.string().optional(),
  result: result.optional(),
});

/** Adds a call of an answer; `eventId` is that of the event which told of it, "" where none did. */
export function addCall(sql: SqlStorage, turn: number, eventId: string, state: CallState): void {
  sql.exec(
    "INSERT INTO calls (turn, id, event_id, body, malformed) VALUES (?, ?, ?, ?, ?)",
    turn,
    state.call.id,
    eventId,
    JSON.stringify(state.call),
    state.malformed ?? null,
  );
}

/** The calls that a turn still has to answer, in their order. */
export function pendingCalls(sql: SqlStorage, turn: number): CallState[] {
  const rows = sql.exec<{
    body: string;
    malformed: string | null;
    plan: string | null;
    result: string | null;
    kind: string | null;
  }>(
    `SELECT body, malformed, plan, result,
       (SELECT kind FROM waits WHERE waits.event_id = calls.event_id) AS kind
     FROM calls WHERE turn = ? ORDER BY n`,
    turn,
  );
  return [...rows].map((row) => ({
    call: call.parse(JSON.parse(row.body)),
    ...(row.malformed === null ? {} : { malformed: row.malformed }),
    ...(row.kind === null ? {} : { permission: row.kind === "client" ? "client" : "ask" }),
    ...(row.plan === null ? {} : { plan: row.plan }),
    ...(row.result === null ? {} : { result: result.parse(JSON.parse(row.result)) }),
  }));
}

/** Keeps what a call is about to do. */
export function planCall(sql: SqlStorage, turn: number, id: string, plan: string): void {
  refuseLarge(plan, "The change of a tool call");
  sql.exec("UPDATE calls SET plan = ? WHERE turn = ? AND id = ?", plan, turn, id);
}

/** Keeps what a call did; gives back the id of the event which told of the call. */
export function finishCall(sql: SqlStorage, turn: number, id: string, done: ToolResult): string {
  const body = JSON.stringify(done);
  refuseLarge(body, "The result of a tool call");
  return sql
    .exec<{ event_id: string }>(
      "UPDATE calls SET result = ? WHERE turn = ? AND id = ? RETURNING event_id",
      body,
      turn,
      id,
    )
    .one().event_id;
}

/**
 * A block for each call of a turn that goes no further: what a call did, where that is on disk, else
 * `otherwise` as an error. Reads rows as they are, since it also serves a turn that they have broken.
 */
export function closingResults(
  sql: SqlStorage,
  turn: number,
  otherwise: string,
): ToolResultBlock[] {
  const rows = sql.exec<{ id: string; result: string | null }>(
    "SELECT id, result FROM calls WHERE turn = ? ORDER BY n",
    turn,
  );
  return [...rows].map((row): ToolResultBlock => {
    const done = row.result === null ? undefined : readResult(row.result);
    const content = done?.content ?? otherwise;
    const block: ToolResultBlock = { type: "tool_result", tool_use_id: row.id, content };
    return (done?.isError ?? true) ? { ...block, is_error: true } : block;
  });
}

function readResult(text: string): ToolResult | undefined {
  try {
    return result.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Forgets the calls of a turn; their results are a message now. */
export function dropCalls(sql: SqlStorage, turn: number): void {
  sql.exec("DELETE FROM calls WHERE turn = ?", turn);
}

/** Keeps which content of a file the model knows; a change alone teaches it nothing. */
export function noteSeen(sql: SqlStorage, notes: readonly ToolNote[]): void {
  for (const note of notes) {
    if (note.type === "seen") {
      sql.exec("INSERT OR REPLACE INTO seen (path, etag) VALUES (?, ?)", note.path, note.etag);
    } else if (note.operation === "deleted") {
      sql.exec("DELETE FROM seen WHERE path = ?", note.path);
    }
  }
}

/** Path to the etag that the model knows. */
export function readSeen(sql: SqlStorage): Map<string, string> {
  const rows = sql.exec<{ path: string; etag: string }>("SELECT path, etag FROM seen");
  return new Map([...rows].map(({ path, etag }) => [path, etag]));
}
