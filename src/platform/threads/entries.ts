// The conversation as the model is sent it: one row a message.

import * as z from "zod";
import type { Placed } from "../../shared/compaction/tail.ts";
import type { Message, UserBlock } from "../../shared/loop/messages.ts";
import { log } from "../log.ts";
import { plainInput } from "./calls.ts";
import { refuseLarge } from "./row-size.ts";

const text = z.object({ type: z.literal("text"), text: z.string() });
const user = z.object({
  role: z.literal("user"),
  content: z.array(
    z.discriminatedUnion("type", [
      text,
      z.object({
        type: z.literal("tool_result"),
        tool_use_id: z.string(),
        content: z.string(),
        is_error: z.literal(true).optional(),
      }),
    ]),
  ),
});
const assistant = z.object({
  role: z.literal("assistant"),
  content: z.array(
    z.discriminatedUnion("type", [
      text,
      z.object({ type: z.literal("thinking"), thinking: z.string(), signature: z.string() }),
      z.object({ type: z.literal("redacted_thinking"), data: z.string() }),
      z.object({
        type: z.literal("tool_use"),
        id: z.string(),
        name: z.string(),
        input: plainInput,
      }),
    ]),
  ),
});
const stored = z.discriminatedUnion("role", [user, assistant]);

/** Appends a message of a turn. */
export function appendMessage(sql: SqlStorage, turn: number, message: Message): void {
  const body = JSON.stringify(message);
  refuseLarge(body, "A message");
  sql.exec("INSERT INTO messages (turn, role, body) VALUES (?, ?, ?)", turn, message.role, body);
}

/**
 * The messages with their numbers, all or those up to the end of a turn. A row that cannot be read
 * becomes a placeholder.
 */
export function readRows(sql: SqlStorage, upToTurn = Number.MAX_SAFE_INTEGER): Placed[] {
  const rows = sql.exec<{ n: number; turn: number; role: string; body: string }>(
    "SELECT n, turn, role, body FROM messages WHERE turn <= ? ORDER BY n",
    upToTurn,
  );
  return [...rows].map(({ n, turn, role, body }) => ({
    n,
    turn,
    message: parseMessage(body) ?? placeholder(n, role),
  }));
}

/** The number of the newest message; 0 where there is none. */
export function lastMessage(sql: SqlStorage): number {
  return sql.exec<{ n: number }>("SELECT ifnull(max(n), 0) AS n FROM messages").one().n;
}

/** How many messages the model sees of these turns: neighbours of one role are one to it. */
export function countMessages(sql: SqlStorage, turns: { first: number; last: number }): number {
  const rows = sql.exec<{ role: string }>(
    "SELECT role FROM messages WHERE turn BETWEEN ? AND ? ORDER BY n",
    turns.first,
    turns.last,
  );
  const roles = [...rows].map(({ role }) => role);
  return roles.filter((role, n) => role !== roles[n - 1]).length;
}

/** A message as it was stored; undefined where the row cannot be read. */
export function parseMessage(body: string): Message | undefined {
  try {
    const result = stored.safeParse(JSON.parse(body));
    if (!result.success) return undefined;
    const value = result.data;
    if (value.role === "assistant") return value;
    const content = value.content.map((block): UserBlock => {
      if (block.type === "text") return block;
      const { is_error, ...rest } = block;
      return is_error ? { ...rest, is_error } : rest;
    });
    return { role: "user", content };
  } catch {
    return undefined;
  }
}

function placeholder(n: number, role: string): Message {
  log("session.bad_message_row", { n });
  const content = [{ type: "text" as const, text: "[A message here could not be read.]" }];
  return role === "assistant" ? { role: "assistant", content } : { role: "user", content };
}

/**
 * The same messages such that the API takes them: a call or result that lost its other half is left
 * out. The last message may hold calls whose results are still to come.
 */
export function withWholePairs(messages: Message[]): Message[] {
  const answered = new Set<string>();
  const asked = new Set<string>();
  for (const message of messages) {
    for (const block of message.content) {
      if (block.type === "tool_result") answered.add(block.tool_use_id);
      if (block.type === "tool_use") asked.add(block.id);
    }
  }
  const last = messages.at(-1);
  return messages.flatMap((message): Message[] => {
    if (message.role === "assistant") {
      const content = message.content.filter(
        (block) => block.type !== "tool_use" || answered.has(block.id) || message === last,
      );
      return content.length > 0 ? [{ role: "assistant", content }] : [];
    }
    const content = message.content.filter(
      (block) => block.type !== "tool_result" || asked.has(block.tool_use_id),
    );
    return content.length > 0 ? [{ role: "user", content }] : [];
  });
}
