import type { Block, Message, Role } from "./wire.ts";

/** A content block with its place in the request, for messages like `messages.3.content.0`. */
export interface PlacedBlock {
  block: Block;
  path: string;
}

/** Consecutive messages of one role are one turn to the API, and so to everything here. */
export interface Turn {
  role: Role;
  path: string;
  blocks: PlacedBlock[];
}

/** A string content is the same as one text block. */
export function blocksOf(message: Message): Block[] {
  return typeof message.content === "string"
    ? [{ type: "text", text: message.content }]
    : message.content;
}

export function turnsOf(messages: readonly Message[]): Turn[] {
  const turns: Turn[] = [];
  for (const [index, message] of messages.entries()) {
    const path = `messages.${index}`;
    const blocks = blocksOf(message).map((block, position) => ({
      block,
      path: `${path}.content.${position}`,
    }));
    const last = turns.at(-1);
    if (last?.role === message.role) last.blocks.push(...blocks);
    else turns.push({ role: message.role, path, blocks });
  }
  return turns;
}

/** The text of a block as a reader sees it; a tool result counts with what it holds. */
export function textOf(block: Block): string {
  if (block.type === "text") return block.text;
  if (block.type !== "tool_result" || block.content === undefined) return "";
  if (typeof block.content === "string") return block.content;
  return block.content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

/** All text of the last user turn, tool results included: what a script step's `contains` sees. */
export function lastUserText(messages: readonly Message[]): string {
  const turn = turnsOf(messages).findLast(({ role }) => role === "user");
  return turn?.blocks.map(({ block }) => textOf(block)).join("\n") ?? "";
}

/** True for an answer that the API paused itself: only such an answer may stand last. */
export function endsInServerTool(turn: Turn): boolean {
  return turn.role === "assistant" && turn.blocks.at(-1)?.block.type === "server_tool_use";
}
