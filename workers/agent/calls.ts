// The tool calls of the last answer and how far each has come, until their results are a message.

import * as z from "zod";
import type { CallState } from "../../src/shared/query/steps.ts";
import type { ToolNote, ToolResult } from "../../src/shared/query/tool.ts";
import { refuseLarge } from "./events.ts";

const note = z.discriminatedUnion("type", [
  z.object({ type: z.literal("seen"), path: z.string(), etag: z.string() }),
  z.object({
    type: z.literal("changed"),
    path: z.string(),
    operation: z.enum(["created", "modified", "deleted"]),
    etag: z.string(),
  }),
]);
const result = z.object({ content: z.string(), isError: z.boolean(), notes: z.array(note) });
const call = z.object({
  type: z.literal("tool_use"),
  id: z.string(),
  name: z.string(),
  input: z.record(z.string(), z.unknown()),
});

/** Adds a call of an answer; `eventId` is that of its `agent.tool_use` event. */
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
  }>("SELECT body, malformed, plan, result FROM calls WHERE turn = ? ORDER BY n", turn);
  return [...rows].map((row) => ({
    call: call.parse(JSON.parse(row.body)),
    ...(row.malformed === null ? {} : { malformed: row.malformed }),
    ...(row.plan === null ? {} : { plan: row.plan }),
    ...(row.result === null ? {} : { result: result.parse(JSON.parse(row.result)) }),
  }));
}

/** Keeps what a call is about to do. */
export function planCall(sql: SqlStorage, turn: number, id: string, plan: string): void {
  refuseLarge(plan, "The change of a tool call");
  sql.exec("UPDATE calls SET plan = ? WHERE turn = ? AND id = ?", plan, turn, id);
}

/** Keeps what a call did; gives back the id of its `agent.tool_use` event. */
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
