// What the tests of the loop say of a history: its parts, and why the API would refuse it.

import type { AssistantBlock, Message, TextBlock } from "../thread/messages.ts";

export function user(text: string): Message {
  return { role: "user", content: [{ type: "text", text }] };
}

export function assistant(...content: AssistantBlock[]): Message {
  return { role: "assistant", content };
}

/** Results by the id of their call. */
export function resultsOf(messages: readonly Message[]): Map<string, string> {
  const blocks = messages.flatMap((message): Message["content"][number][] => message.content);
  return new Map(
    blocks.flatMap((block) =>
      block.type === "tool_result" ? [[block.tool_use_id, block.content] as const] : [],
    ),
  );
}

/** All that is said as text. */
export function textOf(messages: readonly Message[]): string {
  const blocks = messages.flatMap((message): Message["content"][number][] => message.content);
  return blocks
    .filter((block): block is TextBlock => block.type === "text")
    .map((block) => block.text)
    .join("\n");
}

/** Why the API would refuse these messages as a request; empty where it would take them. */
export function refusals(messages: readonly Message[]): string[] {
  const problems: string[] = [];
  const turns = joinedByRole(messages);
  if (turns[0]?.role !== "user") problems.push("the first message is not the user's");
  if (turns.at(-1)?.role !== "user") problems.push("the last message is not the user's");
  const ids = new Set<string>();
  let open: string[] = [];
  for (const { role, content } of turns) {
    if (content.length === 0) problems.push("a message is empty");
    const asked: string[] = [];
    const answered: string[] = [];
    let leading = true;
    for (const block of content) {
      if (block.type === "text" && block.text.trim() === "") problems.push("a text is empty");
      if (block.type === "text" && !block.text.isWellFormed()) problems.push("a lone surrogate");
      if (block.type === "tool_use") {
        if (ids.has(block.id)) problems.push(`${block.id} is asked twice`);
        ids.add(block.id);
        asked.push(block.id);
      }
      if (block.type === "tool_result") {
        if (!leading) problems.push(`the result of ${block.tool_use_id} stands behind a text`);
        if (block.content === "") problems.push(`the result of ${block.tool_use_id} is empty`);
        answered.push(block.tool_use_id);
      } else leading = false;
    }
    if (role === "assistant" && content.at(-1)?.type.endsWith("thinking")) {
      problems.push("a message ends in thinking");
    }
    if (answered.join() !== open.join()) {
      problems.push(`asked [${open.join()}], answered [${answered.join()}]`);
    }
    open = asked;
  }
  if (open.length > 0) problems.push(`[${open.join()}] got no result`);
  return problems;
}

function joinedByRole(messages: readonly Message[]) {
  const turns: { role: Message["role"]; content: Message["content"][number][] }[] = [];
  for (const { role, content } of messages) {
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...content);
    else turns.push({ role, content: [...content] });
  }
  return turns;
}
